// #region example
import { createLease } from '@leasehold/core'
import { RedisGuard, RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'

export async function rebuildOnce(url: string, build: () => Promise<string>): Promise<void> {
  const redis = new Redis(url, { lazyConnect: true })
  const store = new RedisLeaseStore(redis)
  const guard = new RedisGuard(redis)
  await createLease(store, 'index', {
    heartbeatTimeout: 10_000,
    heartbeatInterval: 2_500,
    operationTimeout: 2_000,
  }).run(async ({ fencingToken }) => {
    const index = await build()
    // Rejects with a LeaseLostError if a larger token has written the key meanwhile.
    await guard.write('index:latest', fencingToken, index)
  })
  await store.close()
  await redis.quit()
}
// #endregion example
