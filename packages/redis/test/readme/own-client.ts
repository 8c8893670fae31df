// #region provider
import { type LeaseFactory, LeaseProvider, StoreLease } from '@leasehold/core'
import { RedisLeaseStore } from '@leasehold/redis'
import { createSentinel } from 'redis'

export function provideLeases(name: string, sentinels: { host: string; port: number }[], config: object) {
  const client = createSentinel({ name, sentinelRootNodes: sentinels })
  // Blocks whose lease-class is "our-redis" get leases of this factory, over one store.
  const ourRedis: LeaseFactory = async (settings, context) =>
    new StoreLease(settings, await context.share('our-redis', () => new RedisLeaseStore(client)), context)
  return new LeaseProvider(config, { 'our-redis': ourRedis })
}
// #endregion provider
