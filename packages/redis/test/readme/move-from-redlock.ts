// #region deploy-1
import { createLease } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import type { Redis } from 'ioredis'

export async function sendInvoices(redis: Redis, send: () => Promise<void>): Promise<void> {
  // Before: redlock.using(['invoices'], 10_000, send)
  const store = new RedisLeaseStore(redis, { compat: 'redlock' })
  await createLease(store, 'invoices').run(send, { wait: 60_000 })
  await store.close()
}
// #endregion deploy-1

// #region own-key
export function storeForLocks(redis: Redis): RedisLeaseStore {
  // The old code calls redlock.using([`locks:${id}`], …), and the lease is named by the id.
  return new RedisLeaseStore(redis, { compat: { library: 'redlock', key: (leaseName) => `locks:${leaseName}` } })
}
// #endregion own-key
