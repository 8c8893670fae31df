import { describe, expect, it } from 'vitest'
import { checkRun } from '../src/run/check-run.js'
import type { ChaosRun } from '../src/run/run-chaos.js'
import { localSystem } from '../src/systems/local/system.js'
import { HistoryOf } from './checks/history-of.js'

const good = new HistoryOf().acquired(0, 10, 1n, 100)
const twice = new HistoryOf()
  .acquired(0, 10, 1n, 100)
  .acquired(20, 30, 2n, 130, { client: 2 })
  .held(35, 40, 1n, 100)
  .held(50, 60, 2n, 130, { client: 2 })
/** A client asks for a minute, and is refused. */
const refused = new HistoryOf().call(0, 60_000, { call: 'acquire', outcome: 'refused' })

function verdictOf(run: Partial<ChaosRun>) {
  return checkRun(localSystem, {
    history: good.until(100),
    schedule: [],
    crashes: [],
    failures: [],
    leftOut: [],
    ...run,
  })
}

describe('what is wrong with a run', () => {
  it('is nothing, in a good one', () => {
    expect(verdictOf({})).toMatchObject({ faults: [], mayBeSlowness: false })
  })

  it('may be a busy machine, if a name had no holder, or a fault was not carried out', () => {
    const verdict = verdictOf({ history: refused.until(60_000) })
    expect(verdict.violations.map(({ check }) => check)).toEqual(['gap'])
    expect(verdict.mayBeSlowness).toBe(true)
    expect(verdictOf({ failures: ['kill-server of server 1 did not end'] }).mayBeSlowness).toBe(true)
  })

  it('is more than a busy machine, if a lease was granted twice, or a client ended by itself, whatever else there is', () => {
    const failures = ['kill-server of server 1 did not end']
    const verdict = verdictOf({ history: twice.until(100), failures })
    expect(verdict.violations.map(({ check }) => check)).toContain('exclusion')
    expect(verdict).toMatchObject({ faults: expect.arrayContaining(failures), mayBeSlowness: false })
    expect(verdictOf({ crashes: ['client 1 ended with code 1'], failures }).mayBeSlowness).toBe(false)
  })
})
