// #region close
import { createLease, LeaseHeldError, type LeaseStore } from '@leasehold/core'

/** Whether this process has closed the month; `false` if another one is at it. */
export async function closeMonth(store: LeaseStore, close: (signal: AbortSignal) => Promise<void>): Promise<boolean> {
  try {
    await createLease(store, 'close-month', { heartbeatTimeout: 30_000 }).run(({ signal }) => close(signal))
    return true
  } catch (error) {
    if (error instanceof LeaseHeldError) return false
    throw error
  }
}
// #endregion close
