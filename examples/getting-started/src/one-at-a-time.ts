// #region one-at-a-time
import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'

/** Every instance calls this. One reads the mailbox at a time; the others wait until it ends or dies. */
export async function readMailbox(folder: string, read: (signal: AbortSignal, token: bigint) => Promise<void>) {
  const store = new LocalLeaseStore({ folder })
  const lease = createLease(store, 'mailbox')
  // The signal aborts if the lease is lost. Send the token with each write.
  await lease.run(({ signal, fencingToken }) => read(signal, fencingToken), { wait: Number.POSITIVE_INFINITY })
  await store.close()
}
// #endregion one-at-a-time
