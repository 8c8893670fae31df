import type { RedisClient } from './client/redis-client.js'
import { checkOptions, misconfigured, type RedisOptions } from './redis-options.js'

/**
 * The client that a configuration describes. It does not connect: the store duplicates it. Loads ioredis. Throws a
 * `LeaseConfigurationError` for invalid options.
 */
export async function configuredClient(options: Partial<RedisOptions>): Promise<RedisClient> {
  checkOptions(options)
  const { openClient } = await import('./open-client.js').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code !== 'ERR_MODULE_NOT_FOUND') throw cause
    throw misconfigured('a configuration of @leasehold/redis needs ioredis: npm install ioredis', cause)
  })
  return openClient(options)
}
