// #region machine
import { leaseGuarded } from '@leasehold/actor'
import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { setup } from 'xstate'
import { orders } from './orders.js'

const store = new MemoryLeaseStore()

const guarded = leaseGuarded(orders, {
  lease: ({ self }) => createLease(store, self.id),
  retryInterval: 5_000,
  stash: { capacity: 1_000, overflow: 'drop-oldest' },
  onDropped: (order, why) => process.emitWarning(`${order.type} dropped: ${why}`),
})

export const service = setup({ actors: { guarded } }).createMachine({
  initial: 'working',
  states: {
    working: { invoke: { id: 'orders', src: 'guarded', onError: 'failed', onDone: 'finished' } },
    failed: { after: { 10000: 'working' } },
    finished: { type: 'final' },
  },
})
// #endregion machine
