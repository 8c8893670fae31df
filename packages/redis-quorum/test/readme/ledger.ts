// #region example
import { createLease } from '@leasehold/core'
import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { Redis } from 'ioredis'

export async function closeBooks(servers: readonly string[], close: (fencingToken: bigint) => Promise<void>) {
  const clients = servers.map((url) => new Redis(url, { lazyConnect: true }))
  const store = new RedisQuorumLeaseStore(clients)
  const lease = createLease(store, 'ledger', { heartbeatTimeout: 15_000, heartbeatInterval: 3_000 })
  // The place that stores the result compares the token, and rejects a smaller one.
  await lease.run(({ fencingToken }) => close(fencingToken), { wait: 60_000 })
  await store.close()
}
// #endregion example
