import { createLease } from '@leasehold/core'
import type { HeartbeatThread } from '@leasehold/heartbeat-thread'

// #region example
/** The lease is kept while `post` blocks the event loop. */
export async function postInThread(thread: HeartbeatThread, folder: string, post: () => Promise<void>) {
  const store = await thread.open({ leaseClass: '@leasehold/local', options: { folder } })
  const lease = createLease(store, 'ledger', { heartbeatTimeout: 30_000, unresponsiveAfter: 120_000 })
  await lease.run(post)
}
// #endregion example
