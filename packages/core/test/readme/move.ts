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

// #region copy
import { copyLeases } from '@leasehold/core/migrate'

/** Run once, when no process of the first deployment is left. */
export async function copyIdleLeases(redis: LeaseStore, postgres: LeaseStore): Promise<string> {
  const { copied, held } = await copyLeases(migrate(redis, postgres))
  return `${copied.length} copied, ${held.length} held by running processes`
}
// #endregion copy
