/** A library whose lock is a key of Redis with the id of the holder as its value, and the ttl as its expiry. */
export type OldRedisLibrary = 'redlock' | 'redis-semaphore' | 'shedlock-redis'

/** The lock that other processes use while they are replaced. */
export interface RedisCompat {
  readonly library: OldRedisLibrary
  /** The key that the library uses for what this lease protects, without the `keyPrefix` of ioredis. */
  readonly key?: ((leaseName: string) => string) | undefined
}
