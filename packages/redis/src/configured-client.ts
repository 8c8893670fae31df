import { importOptional } from '@leasehold/core/store-kit'
import type { RedisClient } from './client/redis-client.js'
import { checkOptions, type RedisOptions } from './redis-options.js'

const ioredis = { name: 'ioredis', neededBy: 'a configuration of @leasehold/redis', store: 'redis' }

/**
 * The client that a configuration describes. It does not connect: the store duplicates it. Loads ioredis. Throws a
 * `LeaseConfigurationError` for invalid options.
 */
export async function configuredClient(options: Partial<RedisOptions>): Promise<RedisClient> {
  checkOptions(options)
  const { openClient } = await importOptional(ioredis, () => import('./open-client.js'))
  return openClient(options)
}
