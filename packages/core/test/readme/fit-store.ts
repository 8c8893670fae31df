// #region refused
import { LeaseStoreUnfitError, type StoreLease } from '@leasehold/core'

export async function start(lease: StoreLease, work: () => Promise<void>): Promise<string> {
  try {
    await lease.run(work, { wait: Number.POSITIVE_INFINITY })
    return 'done'
  } catch (error) {
    if (!(error instanceof LeaseStoreUnfitError)) throw error
    // No lease was granted. The message says what to change.
    return error.message
  }
}
// #endregion refused
