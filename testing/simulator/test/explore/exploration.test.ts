import { validityOf } from '@leasehold/core/store-kit'
import { describe, expect, it } from 'vitest'
import type { Bounds } from '../../src/explore/bounds.js'
import { explore } from '../../src/explore/explore.js'
import { Grid } from '../../src/explore/grid.js'

/** Little can happen, so that all states are visited within a second or two. */
const quiet: Partial<Bounds> = {
  ttl: 2,
  messages: 1,
  duplicates: false,
  failures: false,
  crashes: false,
  drift: 'none',
}

/** Others may use the machine. */
const slow = { timeout: 60_000 }

describe('an exploration', slow, () => {
  it('counts in units in which the validity of a lease is one less than its ttl', () => {
    for (const ttl of [2, 3, 5, 10]) {
      const { unit } = new Grid({ ttl })
      expect(validityOf(ttl * unit)).toBeCloseTo((ttl - 1) * unit)
    }
  })

  it.each([
    ['one client of a server-timed store', { clients: 1, ttl: 3, messages: 1 }],
    ['one client of an observed store', { clients: 1, ttl: 3, messages: 1, store: 'observed' }],
    ['a client that asks once', { clients: 1, ttl: 2, users: ['once'], messages: 1 }],
    ['a client that cleans up', { clients: 1, ttl: 2, cleanup: true, messages: 1 }],
    ['an operator who deletes free records', { clients: 1, ttl: 2, deletions: true, messages: 1 }],
    ['two clients of a server-timed store', quiet],
  ] as const)('finds no rule broken, and everything reachable from everywhere, for %s', (_, bounds) => {
    const { found, schedule, isComplete } = explore(bounds, { progress: true })
    expect(schedule).toBeUndefined()
    expect(found).toBeUndefined()
    expect(isComplete).toBe(true)
  })

  it('finds the same states, whether or not steps are left out whose order makes no difference', () => {
    const all = explore(quiet, { reduces: false })
    const fewer = explore(quiet)
    expect(fewer.states).toBe(all.states)
    expect(fewer.steps).toBeLessThan(all.steps)
  })

  it('stops after the most states, and does not take them for all', () => {
    const { states, isComplete } = explore(quiet, { mostStates: 1_000 })
    expect(isComplete).toBe(false)
    expect(states).toBeGreaterThanOrEqual(1_000)
    expect(states).toBeLessThan(1_100)
  })

  it('visits the same states each time', () => {
    const [one, other] = [explore(quiet, { mostStates: 5_000 }), explore(quiet, { mostStates: 5_000 })]
    expect(one).toMatchObject({ states: other.states, steps: other.steps, depth: other.depth })
  })
})

describe('an exploration with clocks that are wronger than a lease allows', slow, () => {
  const wrong: Partial<Bounds> = { ...quiet, drift: 'slow', steady: 0 }

  it('finds the holder that is too late, by the same number of steps with and without the reduction', () => {
    const [fewer, all] = [explore(wrong), explore(wrong, { reduces: false })]
    expect(fewer.found?.rule).toBe('validity-outlives-grant')
    expect(all.found?.rule).toBe('validity-outlives-grant')
    expect(fewer.depth).toBe(all.depth)
  })

  it('prints the shortest schedule that leads there', () => {
    const { schedule } = explore({ ...wrong, clients: 1 })
    expect(schedule).toMatchInlineSnapshot(`
      "server-timed, 1 client; ttl 2, validity 1, heartbeat every 1, operation timeout 1

      time  store                             client 0
         0                                    acquire, waiting; sends: acquire 0.1
         0  0: acquire 0.1 -> granted 0.1 (token 1)
         0                                    gets: granted 0.1 (token 1) => holds
         1  -- a unit passes, but not on the clock of client 0
         2  -- a unit passes, but not on the clock of client 0

      validity-outlives-grant: client 0 holds 0.1, which is not in force"
    `)
  })
})
