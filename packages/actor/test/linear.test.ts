import { describe, expect, it } from 'vitest'
import { createActor } from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { populate } from './support/population.js'
import { message, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

/** The allowed factor for twice as many. Quadratic time would give a factor of four. */
const GENEROUS = 3

/** The allowance for garbage collection and other noise, in microseconds. */
const NOISE = 50_000

/** The processor time of the fastest of a few runs, in microseconds. Other load only makes runs slower. */
async function quickest(run: () => Promise<() => void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3; round += 1) {
    const work = await run()
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
  }
  return least
}

function stashing(count: number): () => Promise<() => void> {
  return async () => {
    const lease = new ScriptedLease()
    const actor = createActor(leaseGuarded(new Recorder().worker, { lease, retryInterval: 1_000 })).start()
    return () => {
      for (let id = 0; id < count; id += 1) actor.send(message(id))
    }
  }
}

function unstashing(count: number): () => Promise<() => void> {
  return async () => {
    const lease = new ScriptedLease()
    const recorder = new Recorder()
    const actor = createActor(leaseGuarded(recorder.worker, { lease, retryInterval: 1_000 })).start()
    lease.grant()
    await settle()
    lease.valid = false
    for (let id = 0; id < count; id += 1) actor.send(message(id))
    lease.valid = true
    return () => {
      actor.send(message(count))
      expect(recorder.handled).toHaveLength(count + 1)
    }
  }
}

/** Stops guarded actors of one system one by one, while all of them wait for a retry. */
function stopping(count: number): () => Promise<() => void> {
  return async () => {
    const lease = new ScriptedLease()
    lease.onAcquire = () => Promise.resolve(false)
    const guarded = leaseGuarded(new Recorder().worker, { lease, retryInterval: 1_000 })
    const { clock, stopAll } = populate(guarded, count)
    await settle()
    expect(clock.pending).toBe(count)
    return () => {
      stopAll()
      expect(clock.pending).toBe(0)
    }
  }
}

const cases: readonly [string, number, (count: number) => () => Promise<() => void>][] = [
  ['stashed messages', 100_000, stashing],
  ['forwarded stashed messages', 100_000, unstashing],
  ['stopped actors that wait for a retry', 5_000, stopping],
]

describe('takes time in proportion to the number of', () => {
  for (const [subject, count, prepare] of cases) {
    it(`${subject}: ${count} against ${count * 2}`, async () => {
      await quickest(prepare(count))
      const single = await quickest(prepare(count))
      const double = await quickest(prepare(count * 2))
      expect(double).toBeLessThan(GENEROUS * single + NOISE)
    })
  }
})
