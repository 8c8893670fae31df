// #region example
import { createLease, LeaseHeldError, type LeaseStore } from '@leasehold/core'

export async function migrateOnce(store: LeaseStore, migrate: (signal: AbortSignal) => Promise<void>) {
  const lease = createLease(store, 'migration', { heartbeatTimeout: 30_000 })
  try {
    await lease.run(({ signal }) => migrate(signal))
    return 'migrated'
  } catch (error) {
    if (error instanceof LeaseHeldError) return 'another instance is migrating'
    throw error
  }
}
// #endregion example
