/** Checks that stashing and forwarding a million messages, and stopping many guarded actors, take linear time. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { leaseGuarded } from '@leasehold/actor'
import { createActor, fromTransition } from 'xstate'
import { populate } from '../test/support/population.js'
import { type Bound, processorTime, report } from './support/bound.js'
import { IdleLease } from './support/idle-lease.js'

const MESSAGES = 1_000_000
const ACTORS = 10_000
const ROUNDS = 9

/** The allowed factor for twice as many. Quadratic time would give a factor of four. */
const LINEAR = 3

const worker = fromTransition((count: number, _event: { type: 'add' }) => count + 1, 0)

/** Held from the start, but valid only when `valid` is set. Earlier messages are stashed. */
class DoubtfulLease extends IdleLease {
  valid = true

  override checkLease(): boolean {
    return this.valid && super.checkLease()
  }
}

async function stash(count: number): Promise<{ stashed: number; replayed: number }> {
  const lease = new DoubtfulLease('grant')
  const actor = createActor(leaseGuarded(worker, { lease, retryInterval: 1_000 })).start()
  await nextTurn()
  lease.valid = false
  const stashed = await processorTime(() => {
    for (let sent = 1; sent < count; sent += 1) actor.send({ type: 'add' })
  })
  lease.valid = true
  const replayed = await processorTime(() => actor.send({ type: 'add' }))
  const handled = actor.getSnapshot().children.worker?.getSnapshot().context
  if (handled !== count) throw new Error(`${handled} of ${count} messages were handled`)
  actor.stop()
  return { stashed, replayed }
}

/** Stops guarded actors that wait for a retry. All systems are created before the measurement. */
async function stop(systems: number, each: number): Promise<number> {
  const guarded = leaseGuarded(worker, { lease: new IdleLease('deny'), retryInterval: 1_000 })
  const populations = Array.from({ length: systems }, () => populate(guarded, each))
  await nextTurn()
  globalThis.gc?.()
  return await processorTime(() => {
    for (const { stopAll } of populations) stopAll()
  })
}

interface Comparison {
  readonly name: string
  readonly one: () => Promise<number>
  readonly other: () => Promise<number>
  readonly atMost: number
}

/** Compares the fastest of interleaved rounds, because garbage collection and other load only add time. */
async function compare({ name, one, other, atMost }: Comparison): Promise<Bound> {
  await other()
  let [least, leastOfOther] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let round = 0; round < ROUNDS; round += 1) {
    least = Math.min(least, await one())
    leastOfOther = Math.min(leastOfOther, await other())
  }
  console.log(`${name}: ${leastOfOther.toFixed(1)} ms against ${least.toFixed(1)} ms`)
  return { name, measured: leastOfOther / least, atMost, unit: 'x' }
}

report(`linear time, quickest of ${ROUNDS} rounds`, [
  await compare({
    name: `${MESSAGES} messages stashed, against half as many`,
    one: async () => (await stash(MESSAGES / 2)).stashed,
    other: async () => (await stash(MESSAGES)).stashed,
    atMost: LINEAR,
  }),
  await compare({
    name: `${MESSAGES} messages replayed, against half as many`,
    one: async () => (await stash(MESSAGES / 2)).replayed,
    other: async () => (await stash(MESSAGES)).replayed,
    atMost: LINEAR,
  }),
  await compare({
    // The same total number of actors, so that processor caches have the same effect. Quadratic time would give 2.
    name: `${ACTORS} waiting actors of one system stopped, against two systems of ${ACTORS / 2}`,
    one: () => stop(2, ACTORS / 2),
    other: () => stop(1, ACTORS),
    atMost: 1.7,
  }),
])
