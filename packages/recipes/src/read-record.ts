import {
  type CreateLeaseOptions,
  LeaseError,
  type LeaseRecord,
  type LeaseStore,
  LeaseUnavailableError,
  readLease,
} from '@leasehold/core'

/** The record of a name, as `readLease` reads it, within the time limit of a lease. Every rejection is a `LeaseError`. */
export async function readRecord(
  store: LeaseStore,
  leaseName: string,
  { operationTimeout: timeout, clock }: CreateLeaseOptions,
): Promise<LeaseRecord | undefined> {
  try {
    return await readLease(store, leaseName, { timeout, clock })
  } catch (error) {
    if (error instanceof LeaseError) throw error
    const { kind = 'custom' } = store
    const message = `the record of '${leaseName}' could not be read: see the cause, and try again`
    throw new LeaseUnavailableError(message, { leaseName, store: kind, cause: error })
  }
}
