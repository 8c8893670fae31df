import { fileURLToPath } from 'node:url'
import { resign } from '@leasehold/actor'
import { loadConfig } from '@leasehold/config'
import { breakLease, LeaseProvider, MemoryLeaseStore, StoreLease } from '@leasehold/core'
import { type SnapshotFrom, waitFor } from 'xstate'
import { createLeaseActor } from './lease-actor.js'

type LeaseActor = ReturnType<typeof createLeaseActor>

/** With a time limit, because timers of Leasehold do not keep the process alive. */
async function until(actor: LeaseActor, isReached: (snapshot: SnapshotFrom<LeaseActor>) => boolean): Promise<void> {
  await waitFor(actor, isReached, { timeout: 60_000 })
}

/** Whether the actor is active and has handled its stash. */
function isIdle({ value, context }: SnapshotFrom<LeaseActor>): boolean {
  return value === 'active' && context.stashed === 0
}

const print = (line: string) => console.log(line)
const config = loadConfig({ folder: fileURLToPath(new URL('..', import.meta.url)) })
const store = new MemoryLeaseStore()
await using provider = new LeaseProvider(config, {
  // In place of lease-class = "@leasehold/core#memoryLease", because this demo breaks a lease in the store.
  '@leasehold/core#memoryLease': (settings) => new StoreLease(settings, store),
})

const settings = { leaseName: 'orders', configPath: 'order-actor.lease' }
const first = createLeaseActor(provider, { ...settings, ownerName: 'first' }, print)
const second = createLeaseActor(provider, { ...settings, ownerName: 'second' }, print)

first.start()
first.send({ type: 'order', id: 1 })
await until(first, isIdle)

second.start()
second.send({ type: 'order', id: 2 })
await until(second, ({ context }) => context.attempts > 0)
print(`second: AcquiringLease, ${second.getSnapshot().context.stashed} stashed, retries`)

print('first resigns')
await resign(first)
await until(second, isIdle)

print('the lease of second is broken')
const lost = until(second, ({ value }) => value === 'acquiringLease')
await breakLease(store, 'orders', { period: 0 })
await lost
print('second: AcquiringLease')
second.send({ type: 'order', id: 3 })
await until(second, isIdle)
await resign(second)
