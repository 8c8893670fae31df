// #region rewrite
import { createLease } from '@leasehold/core'
import type { LocalLeaseStore } from '@leasehold/local'

type Change = (file: string, signal: AbortSignal) => Promise<void>

/** Rewrites the file alone among the processes of this machine. `store` is `new LocalLeaseStore({ folder })`. */
export async function rewrite(store: LocalLeaseStore, file: string, change: Change) {
  const lease = createLease(store, file, { heartbeatTimeout: 10_000 })
  await lease.run(({ signal }) => change(file, signal), { wait: 5_000 })
}
// #endregion rewrite
