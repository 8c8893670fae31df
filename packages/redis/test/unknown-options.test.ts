import { RedisGuard, RedisLeaseStore } from '@leasehold/redis'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'

/** Never connected. */
const a = new Redis({ lazyConnect: true })
const script = { script: 'return 1', keys: ['account'] } as const

describe('an unknown option in code is a LeaseConfigurationError that suggests the right one', () => {
  it.each([
    ['RedisLeaseStore', 'recordlife', 'recordLife', (o: object) => new RedisLeaseStore(a, o)],
    ['RedisGuard.transact', 'arg', 'args', (o: object) => new RedisGuard(a).transact('k', 1n, { ...script, ...o })],
  ])('%s: %s, meant is %s', async (of, option, meant, use) => {
    const error = await (async () => use({ [option]: 1 }))().catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      name: 'LeaseConfigurationError',
      message: `${of} has no option '${option}': did you mean '${meant}'?`,
    })
  })
})
