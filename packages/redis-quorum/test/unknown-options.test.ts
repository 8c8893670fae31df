import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'

/** Never connected. */
const clients = [1, 2, 3].map(() => new Redis({ lazyConnect: true }))

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['RedisQuorumLeaseStore', 'prefex', 'prefix', (o: object) => new RedisQuorumLeaseStore(clients, o)],
    ['RedisQuorumLeaseStore', 'recordlife', 'recordLife', (o: object) => new RedisQuorumLeaseStore(clients, o)],
  ])('%s: %s, meant is %s', (of, option, meant, use) => {
    expect(() => use({ [option]: 1 })).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${of} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  })
})
