import { createLease, type LeaseStore } from '@leasehold/core'

// #region example
/** The process does not survive work that goes on after the loss of the lease. */
export async function postAlone(store: LeaseStore, post: (signal: AbortSignal) => Promise<void>) {
  const lease = createLease(store, 'ledger', { heartbeatTimeout: 30_000, selfFence: 'kill' })
  await lease.run(({ signal }) => post(signal))
}
// #endregion example
