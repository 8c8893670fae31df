// #region conditions
import { type AzureBlobLease, type AzureBlobLeaseStore, breakLeaseIf } from '@leasehold/azure-blob'
import { LeaseConflictError } from '@leasehold/core'

/** Releases the lease, unless the blob was written since `etag`: then the lease stays held. */
export async function releaseUnchanged(lease: AzureBlobLease, etag: string): Promise<boolean> {
  try {
    return await lease.release({ conditions: { ifMatch: etag } })
  } catch (error) {
    if (error instanceof LeaseConflictError) return false
    throw error
  }
}

/** For an operator: breaks the lease of a holder that has written nothing since a time. */
export async function breakIdle(store: AzureBlobLeaseStore, name: string, since: Date): Promise<void> {
  await breakLeaseIf(store, name, { period: 0, conditions: { ifUnmodifiedSince: since } })
}
// #endregion conditions
