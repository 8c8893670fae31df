import { Publisher } from '@leasehold/core/internal'

/** The channels of regions and singletons. */
export const shardingPublishers = {
  shard: new Publisher('leasehold:shard'),
  delivery: new Publisher('leasehold:delivery'),
  region: new Publisher('leasehold:region'),
} as const
