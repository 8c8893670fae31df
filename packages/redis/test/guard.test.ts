import { LeaseConfigurationError, LeaseLostError, LeaseUnavailableError } from '@leasehold/core'
import { type RedisClient, RedisGuard } from '@leasehold/redis'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeRedis } from './support/describe-redis.js'
import { RedisCluster } from './support/redis-cluster.js'
import { RedisServer } from './support/redis-server.js'

describeRedis('RedisGuard', () => {
  let server: RedisServer
  const ends: (() => unknown)[] = []

  beforeAll(async () => {
    server = await RedisServer.start()
  })

  afterAll(async () => {
    for (const end of ends) await end()
    await server.stop()
  })

  async function clientOf(library: 'ioredis' | 'node-redis', keyPrefix = ''): Promise<RedisClient> {
    if (library === 'ioredis') {
      const client = new Redis(server.url, { keyPrefix })
      ends.push(() => client.disconnect())
      return client
    }
    const client = await createClient({ url: server.url, keyPrefix }).connect()
    ends.push(() => client.destroy())
    return client
  }

  describe.each(['ioredis', 'node-redis'] as const)('by %s', (library) => {
    it('lets the same and larger tokens write, and no smaller one', async () => {
      const guard = new RedisGuard(await clientOf(library))
      const key = `account of ${library}`
      expect(await guard.write(9n, 'SET', key, 'a')).toBe('OK')
      await guard.write(9n, 'SET', key, 'b')
      // Larger as a number, smaller as a text.
      await guard.write(10n, 'APPEND', key, 'c')
      const late = guard.write(9n, 'SET', key, 'late')
      await expect(late).rejects.toBeInstanceOf(LeaseLostError)
      await expect(late).rejects.toMatchObject({ reason: 'taken', message: expect.stringContaining('behind 10') })
      expect(await server.command('GET', key)).toBe('bc')
    })

    it('compares tokens that no double can hold', async () => {
      const guard = new RedisGuard(await clientOf(library))
      const [smaller, larger] = [2n ** 64n, 2n ** 64n + 1n]
      await guard.write(larger, 'SET', `big ${library}`, 'x')
      await expect(guard.write(smaller, 'SET', `big ${library}`, 'y')).rejects.toBeInstanceOf(LeaseLostError)
    })

    it("runs a script that knows nothing of the fence, and tells the script's own errors as they are", async () => {
      const guard = new RedisGuard(await clientOf(library))
      const script = 'return { #KEYS, #ARGV, KEYS[1], ARGV[1] }'
      expect(await guard.run(1n, { script, keys: ['one', 'two'], args: ['a'] })).toEqual([2, 1, 'one', 'a'])
      await expect(guard.run(1n, { script: "return redis.error_reply('MINE no')", keys: ['one'] })).rejects.toThrow(
        /MINE no/,
      )
    })

    it("keeps to the client's prefix", async () => {
      const guard = new RedisGuard(await clientOf(library, `app-${library}:`))
      await guard.write(3n, 'SET', 'k', 'v')
      expect(await server.command('GET', `app-${library}:k`)).toBe('v')
      await expect(guard.write(2n, 'SET', 'k', 'late')).rejects.toBeInstanceOf(LeaseLostError)
    })
  })

  it('refuses what is no token, and a key beside which nothing can be kept', async () => {
    const guard = new RedisGuard(await clientOf('ioredis'))
    await expect(guard.write(-1n, 'SET', 'k', 'v')).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(guard.write(1 as unknown as bigint, 'SET', 'k', 'v')).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(guard.write(1n, 'SET', 'a}b', 'v')).rejects.toBeInstanceOf(LeaseConfigurationError)
    expect(() => new RedisGuard({} as RedisClient)).toThrow(LeaseConfigurationError)
  })

  it('says that the server is away', async () => {
    const away = new Redis({ port: 1, lazyConnect: true, retryStrategy: null, maxRetriesPerRequest: 0 })
    away.on('error', () => {})
    await expect(new RedisGuard(away).write(1n, 'SET', 'k', 'v')).rejects.toBeInstanceOf(LeaseUnavailableError)
  })

  it('keeps the token in the slot of the key, in a cluster, tag or no tag', async () => {
    const cluster = await RedisCluster.start()
    const port = cluster.nodes[0]?.port ?? 0
    const ioredis = new Cluster([{ host: '127.0.0.1', port }], { keyPrefix: 'app:' })
    const nodeRedis = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] })
    await nodeRedis.connect()
    for (const client of [ioredis, nodeRedis]) {
      const guard = new RedisGuard(client)
      for (const key of ['plain', 'user:{7}:seats', '{8}', 'a{b']) {
        await guard.write(5n, 'SET', key, 'v')
        await expect(guard.write(4n, 'SET', key, 'late')).rejects.toBeInstanceOf(LeaseLostError)
      }
    }
    ioredis.disconnect()
    nodeRedis.destroy()
    await cluster.stop()
  })
})
