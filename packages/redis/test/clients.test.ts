import { LeaseConfigurationError } from '@leasehold/core'
import {
  type IoRedisClient,
  type IoRedisClusterClient,
  type NodeRedisClient,
  type NodeRedisClusterClient,
  type NodeRedisSentinelClient,
  type RedisClient,
  RedisLeaseStore,
} from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster, createSentinel } from 'redis'
import { describe, expect, it } from 'vitest'
import { type Library, libraries } from './support/libraries.js'
import { claimOf, granted, never, Scene } from './support/scene.js'

/** The clients of a server except those of the tests: the kind of each, by address. */
async function clientsOf(server: RedisServer): Promise<string[]> {
  const list = String(await server.command('CLIENT', 'LIST'))
  // The connection that asks is one of them.
  return list.split('\n').filter((line) => line !== '' && !line.includes('cmd=client|list'))
}

/** Acquires, renews, hands over and releases a lease, with a waiter. */
async function live(scene: Scene, client: RedisClient, name = 'job'): Promise<void> {
  const [one, other] = [scene.store(client), scene.store(client)]
  const [a, b] = [scene.player('a', one, { name }), scene.player('b', other, { name })]
  expect(await a.lease.acquire({ wait: 20_000 })).toBe(true)
  expect(await b.lease.acquire()).toBe(false)
  const waiting = b.lease.acquire({ wait: 20_000 })
  await eventually('a has renewed', async () => a.events.includes('renewed'))
  const token = a.lease.fencingToken ?? 0n
  expect(await a.lease.release()).toBe(true)
  expect(await waiting).toBe(true)
  expect(b.lease.fencingToken).toBeGreaterThan(token)
  expect([...a.overlaps, ...b.overlaps]).toEqual([])
  expect(await b.lease.release()).toBe(true)
  await one.close()
  await other.close()
}

describe('a client', () => {
  it('of ioredis or node-redis is accepted with the types of its library', () => {
    const options = { lazyConnect: true } as const
    const redis: IoRedisClient = new Redis(options)
    const group: IoRedisClient = new Redis({ ...options, name: 'x', sentinels: [{ host: 'x', port: 1 }] })
    const cluster: IoRedisClusterClient = new Cluster([{ port: 1 }], options)
    const client: NodeRedisClient = createClient()
    const resp2: NodeRedisClient = createClient({ RESP: 2, socket: { tls: true } })
    const nodes: NodeRedisClusterClient = createCluster({ rootNodes: [{ url: 'redis://x' }] })
    const sentinel: NodeRedisSentinelClient = createSentinel({ name: 'x', sentinelRootNodes: [{ host: 'x', port: 1 }] })
    for (const taken of [redis, group, cluster, client, resp2, nodes, sentinel] satisfies RedisClient[]) {
      expect(new RedisLeaseStore(taken).kind).toBe('redis')
    }
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a URL', 'redis://127.0.0.1'],
    ['options', { host: '127.0.0.1', port: 6379 }],
    ['a function', () => {}],
    ['another’s client', { duplicate: () => {}, get: () => {} }],
  ])('that is %s is refused when the store is made', (_, client) => {
    const make = (): RedisLeaseStore => new RedisLeaseStore(client as unknown as RedisClient)
    expect(make).toThrow(LeaseConfigurationError)
    expect(make).toThrow(/ioredis.*node-redis/)
  })
})

describeRedis('clients', () => {
  describe.concurrent.each(libraries)('of $name', { timeout: 90_000 }, (library) => {
    it('of one server', async () => {
      await Scene.play(async (scene) => live(scene, library.server(await scene.server())))
    })

    it('of a cluster', async () => {
      await Scene.play(async (scene) => {
        const cluster = await scene.cluster()
        const client = library.cluster(cluster.nodes)
        // Names on all nodes.
        await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => live(scene, client, name)))
      })
    })

    it('of sentinels, which keep no connection when the stores are closed', async () => {
      await Scene.play(async (scene) => {
        const group = await scene.sentinel()
        await live(scene, library.sentinel(group))
        const others = async (sentinel: RedisServer): Promise<string[]> => {
          return (await clientsOf(sentinel)).filter((line) => !/ name=sentinel-/.test(line))
        }
        await eventually('no client is left', async () => {
          return (await Promise.all(group.sentinels.map(others))).flat().length === 0
        })
      })
    })

    it('that are connected are neither used nor closed', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        await theUsersOwn(library, server, scene)
      })
    })

    it('have no connection left when the store is closed, whatever was in progress', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const client = library.server(server)
        const store = scene.store(client)
        await granted(store, 'held')
        await store.acquire(claimOf('waits', { queue: true }), never)
        const watching = (async () => {
          for await (const _ of store.watch('job', never)) await Promise.resolve()
        })()
        await eventually('there are connections', async () => (await clientsOf(server)).length >= 2)
        server.freeze()
        const under = store.acquire(claimOf('under way'), never)
        await store.close()
        await expect(under).rejects.toThrow()
        await watching
        await expect(store.read('job', never)).rejects.toThrow('closed')
        server.thaw()
        await eventually('no connection is left', async () => (await clientsOf(server)).length === 0)
      })
    })

    it('of a cluster use their key prefix', async () => {
      await Scene.play(async (scene) => {
        const cluster = await scene.cluster()
        const store = scene.store(library.cluster(cluster.nodes, { keyPrefix: 'mine:' }))
        await granted(store, 'held')
        await store.acquire(claimOf('waits', { queue: true }), never)
        const keys = await Promise.all(cluster.nodes.map((node) => node.command('KEYS', '*')))
        expect(keys.flat()).toEqual(['mine:leasehold:{job}'])
        const channels = await Promise.all(cluster.nodes.map((node) => node.command('PUBSUB', 'CHANNELS')))
        expect(channels.flat()).toContainEqual(expect.stringMatching(/^mine:leasehold:turns:/))
        expect(await store.renew({ ...claimOf('held'), fencingToken: 0n }, never)).toEqual({ renewed: true })
      })
    })

    it('use their key prefix for keys and channels', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        const store = scene.store(library.server(server, { keyPrefix: 'mine:' }), { prefix: 'leases:' })
        await granted(store, 'held')
        await store.acquire(claimOf('waits', { queue: true }), never)
        expect(await server.command('KEYS', '*')).toEqual(['mine:leases:{job}'])
        const channels = await server.command('PUBSUB', 'CHANNELS')
        expect(channels).toEqual([expect.stringMatching(/^mine:leases:turns:/)])
        // It sees the writes of another client to the same key.
        const plain = scene.store(library.server(server), { prefix: 'mine:leases:' })
        expect(await plain.read('job', never)).toMatchObject({ grantId: 'held' })
      })
    })
  })
})

/** The options of the user's client stay as they are. */
async function theUsersOwn(library: Library, server: RedisServer, scene: Scene): Promise<void> {
  const client = library.server(server) as RedisClient & { connect(): Promise<unknown>; client?: unknown }
  await client.connect()
  const [own] = await clientsOf(server)
  const id = /id=(\d+)/.exec(own ?? '')?.[1]
  const store = scene.store(client)
  await granted(store, 'held')
  await store.acquire(claimOf('waits', { queue: true }), never)
  expect((await clientsOf(server)).length).toBe(3)
  await store.close()
  await eventually('the store has gone', async () => (await clientsOf(server)).length === 1)
  const left = String(await clientsOf(server))
  expect(left).toContain(`id=${id} `)
  expect(left).not.toMatch(/cmd=(evalsha|eval|subscribe)/)
  expect(left).toContain(' sub=0 ')
  if ('disconnect' in client) client.disconnect()
  else client.destroy()
}
