// #region idea
import { createLease } from '@leasehold/core'
import { LocalLeaseStore } from '@leasehold/local'

export async function reportOnce(folder: string, write: (token: bigint, signal: AbortSignal) => Promise<string>) {
  const store = new LocalLeaseStore({ folder })
  const lease = createLease(store, 'nightly-report')
  // Only one process of this machine runs this at a time. The signal aborts if the lease is lost.
  const report = await lease.run(({ signal, fencingToken }) => write(fencingToken, signal), { wait: 60_000 })
  await store.close()
  return report
}
// #endregion idea
