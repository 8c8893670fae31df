import { RedisQuorumLeaseStore } from '@leasehold/redis-quorum'
import { Redis } from 'ioredis'
import { expect, it } from 'vitest'

/** Never connected. */
const clients = [1, 2, 3].map(() => new Redis({ lazyConnect: true }))

it.each([['RedisQuorumLeaseStore', 'prefex', 'prefix', (o: object) => new RedisQuorumLeaseStore(clients, o)]])(
  '%s: an unknown option %s is a LeaseConfigurationError that suggests %s',
  (of, option, meant, use) => {
    expect(() => use({ [option]: 'app:' })).toThrow(
      expect.objectContaining({
        name: 'LeaseConfigurationError',
        message: `${of} has no option '${option}': did you mean '${meant}'?`,
      }),
    )
  },
)
