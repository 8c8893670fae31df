// #region stores
import type { LeaseStore } from '@leasehold/core'
import { migrate } from '@leasehold/core/migrate'

/** The store of the leases, in each of the three deployments. Only this function changes. */
export function openStore(deployment: number, redis: () => LeaseStore, postgres: () => LeaseStore): LeaseStore {
  if (deployment === 1) return redis()
  if (deployment === 2) return migrate(redis(), postgres())
  return postgres()
}
// #endregion stores
