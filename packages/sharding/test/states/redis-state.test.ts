import { randomUUID } from 'node:crypto'
import {
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseStoreUnfitError,
  LeaseTimeoutError,
  LeaseUnauthorisedError,
} from '@leasehold/core'
import { type RedisStateOptions, redisState } from '@leasehold/sharding/redis'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { RedisServer } from '@leasehold/testing/redis-server'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { RedisCluster } from '../../../redis/test/support/redis-cluster.js'
import { describeStateLaws } from './describe-state-laws.js'

const entity = { snapshot: { balance: 5 }, version: 1, handled: [] }

describe('redisState refuses', () => {
  it.each([
    [{ prefix: 'a{b}' }, /prefix must be a text without braces/],
    [{ prefix: 7 }, /prefix must be a text/],
    [{ prefx: 'a' }, /redisState has no option 'prefx'.*did you mean 'prefix'/],
    [{ probe: 'no' }, /probe must be true or false/],
    [{ timeout: 0 }, /timeout must be a positive number of milliseconds/],
  ])('%o', (options, message) => {
    const client = new Redis({ lazyConnect: true })
    expect(() => redisState(client, options as RedisStateOptions)).toThrow(message)
    expect(() => redisState(client, options as RedisStateOptions)).toThrow(LeaseConfigurationError)
  })

  it('what is no client', () => {
    expect(() => redisState('redis://localhost' as never)).toThrow(/pass a client of ioredis/)
  })
})

describeRedis('redisState on a server', () => {
  let server: RedisServer

  beforeAll(async () => {
    server = await RedisServer.start({ password: 'secret' })
  })

  afterAll(async () => {
    await server.stop()
  })

  describeStateLaws({
    name: 'redisState with node-redis and ioredis, with a prefix and without',
    start: () => {
      const prefix = `${randomUUID()}:`
      const node = createClient({ url: server.url })
      const io = new Redis(server.url, { keyPrefix: prefix })
      node.on('error', () => {})
      let isConnected: Promise<unknown> | undefined
      let count = 0
      return {
        open: async () => {
          isConnected ??= node.connect()
          await isConnected
          count += 1
          return count % 2 === 0 ? redisState(node, { prefix: `${prefix}e:` }) : redisState(io, { prefix: 'e:' })
        },
        stop: () => {
          io.disconnect()
          node.destroy()
        },
      }
    },
  })

  it('keeps an entity in a key that people can read', async () => {
    const client = new Redis(server.url)
    await redisState(client).forRegion?.('accounts').save('account-7', entity, 5n)
    expect(JSON.parse((await client.get('leasehold:entity:accounts:account-7')) ?? '')).toEqual(entity)
    expect(await client.get('leasehold:fence:{leasehold:entity:accounts:account-7}')).toBe('5')
    expect(await client.ttl('leasehold:entity:accounts:account-7')).toBe(-1)
    client.disconnect()
  })

  it('says what to do for a wrong password, a user without rights, and a key of another type', async () => {
    const wrong = new Redis({ port: server.port, password: 'wrong', retryStrategy: null })
    wrong.on('error', () => {})
    await expect(redisState(wrong).load('a', 1n)).rejects.toThrow(/check the (username and the )?password|be reached/)
    const none = new Redis({ port: server.port, enableReadyCheck: false })
    none.on('error', () => {})
    await expect(redisState(none).load('a', 1n)).rejects.toThrow(/NOAUTH.*check the username and the password/)
    none.disconnect()
    await server.command('ACL', 'SETUSER', 'weak', 'on', '>weak', '~*', '+@all', '-get')
    const weak = new Redis({ port: server.port, username: 'weak', password: 'weak' })
    const denied = redisState(weak).load('a', 1n)
    await expect(denied).rejects.toThrow(LeaseUnauthorisedError)
    await expect(denied).rejects.toThrow(/the user needs/)
    weak.disconnect()
    const client = new Redis(server.url)
    await client.rpush('leasehold:entity::list', 'x')
    const foreign = redisState(client).load('list', 1n)
    await expect(foreign).rejects.toThrow(LeaseConfigurationError)
    await expect(foreign).rejects.toThrow(/holds other data/)
    client.disconnect()
  })

  it('refuses a server that evicts entities, until it does not', async () => {
    const evicting = await RedisServer.start({ args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'] })
    const client = new Redis(evicting.url)
    onTestFinished(async () => {
      client.disconnect()
      await evicting.stop()
    })
    const state = redisState(client)
    const refused = state.load('a', 1n)
    await expect(refused).rejects.toThrow(LeaseStoreUnfitError)
    await expect(refused).rejects.toThrow(/maxmemory-policy is allkeys-lru.*noeviction/)
    expect(await redisState(client, { probe: false }).load('a', 1n)).toBeUndefined()
    await evicting.command('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru')
    expect(await state.load('a', 1n)).toBeUndefined()
    await evicting.command('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lfu', 'maxmemory', '0')
    expect(await redisState(client).load('a', 1n)).toBeUndefined()
  })

  it('ends a call to a server that hangs or is down, and does not take it for a refusal', async () => {
    const frozen = await RedisServer.start()
    const client = new Redis(frozen.url)
    client.on('error', () => {})
    const state = redisState(client, { timeout: 300 })
    await state.save('a', entity, 1n)
    frozen.freeze()
    const error = await state.save('a', entity, 1n).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseTimeoutError)
    expect((error as Error).message).toMatch(/the save of entity 'a' had no answer from redis within 300 ms/)
    frozen.thaw()
    await frozen.stop()
    const down = await state.load('a', 1n).catch((reason: unknown) => reason)
    expect(down).not.toBeInstanceOf(LeaseConflictError)
    expect((down as Error).message).toMatch(/check that the (server|store) can be reached/)
    client.disconnect()
  })
})

describeRedis('redisState on a cluster', () => {
  let cluster: RedisCluster

  beforeAll(async () => {
    cluster = await RedisCluster.start()
  })

  afterAll(async () => {
    await cluster.stop()
  })

  describeStateLaws({
    name: 'redisState with a cluster of ioredis and of node-redis',
    start: () => {
      const prefix = `${randomUUID()}:`
      const [port] = cluster.nodes.map((node) => node.port)
      const io = new Cluster([{ host: '127.0.0.1', port }])
      const node = createCluster({ rootNodes: [{ url: `redis://127.0.0.1:${port}` }] })
      node.on('error', () => {})
      let isConnected: Promise<unknown> | undefined
      let count = 0
      return {
        open: async () => {
          isConnected ??= node.connect()
          await isConnected
          count += 1
          return redisState(count % 2 === 0 ? node : io, { prefix })
        },
        stop: () => {
          io.disconnect()
          node.destroy()
        },
      }
    },
  })
})
