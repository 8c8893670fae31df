/** Measures the cost of forwarding: a guarded worker against the same worker alone, in interleaved rounds. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { leaseGuarded } from '@leasehold/actor'
import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { createActor, fromTransition } from 'xstate'
import { median, processorTime, report } from './support/bound.js'
import { IdleLease } from './support/idle-lease.js'

const MESSAGES = 200_000
const ROUNDS = 15

const worker = fromTransition(({ count }: { count: number }, _event: { type: 'add' }) => ({ count: count + 1 }), {
  count: 0,
})

function sending(actor: { send(event: { type: 'add' }): void }): () => void {
  return () => {
    for (let sent = 0; sent < MESSAGES; sent += 1) actor.send({ type: 'add' })
  }
}

const engine = createLease(new MemoryLeaseStore(), 'bench')
const bare = createActor(worker).start()
const guarded = createActor(leaseGuarded(worker, { lease: new IdleLease('grant'), retryInterval: 1_000 })).start()
const held = createActor(leaseGuarded(worker, { lease: engine, retryInterval: 1_000 })).start()
while (!guarded.getSnapshot().matches('active') || !held.getSnapshot().matches('active')) await nextTurn()

/** The hand-written alternative to a guarded actor. */
function checking(): void {
  for (let sent = 0; sent < MESSAGES; sent += 1) if (engine.checkLease()) bare.send({ type: 'add' })
}

const variants = [
  { name: 'bare', work: sending(bare), times: [] as number[] },
  { name: 'guarded', work: sending(guarded), times: [] as number[] },
  { name: 'bare, after checkLease of the engine', work: checking, times: [] as number[] },
  { name: 'guarded, with the engine', work: sending(held), times: [] as number[] },
] as const
for (const { work } of variants) work()
for (let round = 0; round < ROUNDS; round += 1) {
  for (const { work, times } of variants) times.push(await processorTime(work))
}
for (const actor of [guarded, held]) actor.stop()
await engine.close()

for (const { name, times } of variants) console.log(`${name}: ${((median(times) * 1e6) / MESSAGES).toFixed(0)} ns`)
const [ofBare, ofGuarded, ofChecked, ofHeld] = variants.map(({ times }) => median(times)) as [
  number,
  number,
  number,
  number,
]
report(`forwarding ${MESSAGES} messages, median of ${ROUNDS} rounds`, [
  { name: 'guarded / bare', measured: ofGuarded / ofBare, atMost: 1.5, unit: 'x' },
  { name: 'guarded / bare after checkLease, with the engine', measured: ofHeld / ofChecked, atMost: 1.5, unit: 'x' },
  // A guarded actor calls checkLease for every message, and each call reads two clocks of the machine.
  { name: 'guarded with the engine / bare', measured: ofHeld / ofBare, atMost: Number.POSITIVE_INFINITY, unit: 'x' },
])
