// #region objective
import { createLease, type LeaseStore } from '@leasehold/core'

/** Leads while it holds the lease; a dead leader is replaced within 5 s. */
export function leaderLease(store: LeaseStore, alert: (reason: string) => void) {
  const lease = createLease(store, 'leader', { objective: { failover: 5_000, falseLossesPerYear: 1 } })
  lease.on('advised', ({ kept, reason = '' }) => {
    if (!kept) alert(reason)
  })
  return lease
}
// #endregion objective
