// #region copy
import type { LeaseStore } from '@leasehold/core'
import { copyLeases, migrate } from '@leasehold/core/migrate'

/** Run once, when no process of the first deployment is left. */
export async function copyIdleLeases(redis: LeaseStore, postgres: LeaseStore): Promise<string> {
  const { copied, held } = await copyLeases(migrate(redis, postgres))
  return `${copied.length} copied, ${held.length} held by running processes`
}
// #endregion copy
