import { leaseGuarded, resign } from '@leasehold/actor'
import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { createActor, createMachine } from 'xstate'

const store = new MemoryLeaseStore()
export const lease = createLease(store, 'orders')
const orders = createMachine({
  initial: 'working',
  states: { working: { on: { finish: 'finished' } }, finished: { type: 'final' } },
})

// #region shutdown
export const actor = createActor(
  leaseGuarded(orders, { lease, drain: { event: { type: 'finish' }, stopTimeout: 10_000 } }),
)

export async function shutDown() {
  await resign(actor) // the worker has finished or was stopped, and the lease is released
  await store.close()
}
process.once('SIGTERM', shutDown)
// #endregion shutdown
