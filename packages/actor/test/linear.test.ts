import { describe, expect, it } from 'vitest'
import { createActor } from 'xstate'
import { leaseGuarded } from '../src/index.js'
import { populate } from './support/population.js'
import { message, Recorder, settle } from './support/recorder.js'
import { ScriptedLease } from './support/scripted-lease.js'

/** Work in the square of the number would take four times as long for twice as many, and seconds at these numbers. */
const GENEROUS = 3

/** What a collection of garbage, or the machine, may add to either. Microseconds. */
const NOISE = 50_000

/** The processor time of the quickest of a few runs, in microseconds: what others do on the machine only adds to it. */
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

/** Guards in one system that all wait for a retry, stopped one by one. */
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
  ['stashing a message', 100_000, stashing],
  ['handing on what was stashed', 100_000, unstashing],
  ['stopping guards that wait for a retry', 5_000, stopping],
]

describe('takes time in proportion to the number of', () => {
  for (const [what, count, prepare] of cases) {
    it(`${what}: ${count} against ${count * 2}`, async () => {
      await quickest(prepare(count))
      const single = await quickest(prepare(count))
      const double = await quickest(prepare(count * 2))
      expect(double).toBeLessThan(GENEROUS * single + NOISE)
    })
  }
})
