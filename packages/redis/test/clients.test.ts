import { LeaseConfigurationError } from '@leasehold/core'
import {
  type GlideClient,
  type GlideClusterClient,
  type IoRedisClient,
  type IoRedisClusterClient,
  type NodeRedisClient,
  type NodeRedisClusterClient,
  type NodeRedisSentinelClient,
  type RedisClient,
  RedisLeaseStore,
  type UpstashClient,
} from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { describeRedis } from '@leasehold/testing/describe-redis'
import { claimOf, granted, never } from '@leasehold/testing/job-claims'
import type { RedisServer } from '@leasehold/testing/redis-server'
import { Redis as UpstashRedis } from '@upstash/redis'
import { GlideClusterClient as ManyGlide, GlideClient as OneGlide } from '@valkey/valkey-glide'
import { Cluster, Redis } from 'ioredis'
import { Valkey, Cluster as ValkeyCluster } from 'iovalkey'
import { createClient, createCluster, createSentinel } from 'redis'
import { describe, expect, it } from 'vitest'
import {
  clusterLibraries,
  glide,
  type Library,
  type ServerLibrary,
  sentinelLibraries,
  serverLibraries,
} from './support/libraries.js'
import { Scene } from './support/scene.js'

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
  it('is accepted with the types of its library', async () => {
    const options = { lazyConnect: true } as const
    const redis: IoRedisClient = new Redis(options)
    const group: IoRedisClient = new Redis({ ...options, name: 'x', sentinels: [{ host: 'x', port: 1 }] })
    const cluster: IoRedisClusterClient = new Cluster([{ port: 1 }], options)
    const client: NodeRedisClient = createClient()
    const resp2: NodeRedisClient = createClient({ RESP: 2, socket: { tls: true } })
    const nodes: NodeRedisClusterClient = createCluster({ rootNodes: [{ url: 'redis://x' }] })
    const sentinel: NodeRedisSentinelClient = createSentinel({ name: 'x', sentinelRootNodes: [{ host: 'x', port: 1 }] })
    const valkey: IoRedisClient = new Valkey(options)
    const valkeys: IoRedisClusterClient = new ValkeyCluster([{ port: 1 }], options)
    const lazy = { addresses: [{ host: 'x' }], lazyConnect: true }
    const oneGlide: GlideClient = await OneGlide.createClient(lazy)
    const manyGlide: GlideClusterClient = await ManyGlide.createClient(lazy)
    const overHttp: UpstashClient = new UpstashRedis({ url: 'https://x.example', token: 'x' })
    const plainHttp: UpstashClient = new UpstashRedis({
      url: 'https://x.example',
      token: 'x',
      enableAutoPipelining: false,
    })
    const all = [
      redis,
      group,
      cluster,
      client,
      resp2,
      nodes,
      sentinel,
      valkey,
      valkeys,
      oneGlide,
      manyGlide,
      overHttp,
      plainHttp,
    ]
    for (const taken of all satisfies RedisClient[]) {
      expect(new RedisLeaseStore(taken).kind).toBe('redis')
    }
    oneGlide.close()
    manyGlide.close()
  })

  it.each([
    ['nothing', undefined],
    ['null', null],
    ['a URL', 'redis://127.0.0.1'],
    ['options', { host: '127.0.0.1', port: 6379 }],
    ['a function', () => {}],
    ['a promise of a client', OneGlide.createClient({ addresses: [{ host: 'x' }], lazyConnect: true })],
    [
      'a client of GLIDE 2.2',
      { customCommand: () => {}, updateConnectionPassword: () => {}, config: { addresses: [] } },
    ],
    ['another’s client', { duplicate: () => {}, get: () => {} }],
  ])('that is %s is refused when the store is made', (_, client) => {
    const make = (): RedisLeaseStore => new RedisLeaseStore(client as unknown as RedisClient)
    expect(make).toThrow(LeaseConfigurationError)
    expect(make).toThrow(/ioredis.*node-redis|update @valkey/)
  })
})

describeRedis('clients', () => {
  it.concurrent.each(serverLibraries)('of $name, of one server', { timeout: 90_000 }, async (library) => {
    await Scene.play(async (scene) => live(scene, library.server(await scene.server())))
  })

  it.concurrent.each(clusterLibraries)('of $name, of a cluster', { timeout: 90_000 }, async (library) => {
    await Scene.play(async (scene) => {
      const cluster = await scene.cluster()
      const client = library.cluster(cluster.nodes)
      // Names on all nodes.
      await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => live(scene, client, name)))
    })
  })

  it.concurrent.each(sentinelLibraries)(
    'of $name, of sentinels, which keep no connection when the stores are closed',
    { timeout: 90_000 },
    async (library) => {
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
    },
  )

  it.concurrent.each([glide])('of $name have no connection left when the store is closed', async (library) => {
    await Scene.play(async (scene) => closedAmid(library, await scene.server(), scene))
  })

  describe.concurrent.each(sentinelLibraries)('of $name', { timeout: 90_000 }, (library) => {
    it('that are connected are neither used nor closed', async () => {
      await Scene.play(async (scene) => {
        const server = await scene.server()
        await theUsersOwn(library, server, scene)
      })
    })

    it('have no connection left when the store is closed, whatever was in progress', async () => {
      await Scene.play(async (scene) => closedAmid(library, await scene.server(), scene))
    })

    it('of a cluster use their key prefix', async () => {
      await Scene.play(async (scene) => {
        const cluster = await scene.cluster()
        const store = scene.store(library.cluster(cluster.nodes, { keyPrefix: 'mine:' }))
        const held = await granted(store, 'held')
        await store.acquire(claimOf('waits', { queue: true }), never)
        const keys = await Promise.all(cluster.nodes.map((node) => node.command('KEYS', '*')))
        expect(keys.flat()).toEqual(['mine:leasehold:{job}'])
        const channels = await Promise.all(cluster.nodes.map((node) => node.command('PUBSUB', 'CHANNELS')))
        expect(channels.flat()).toContainEqual(expect.stringMatching(/^mine:leasehold:turns:/))
        expect(await store.renew(held, never)).toEqual({ renewed: true })
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

/** Closes a store whose requests hang. */
async function closedAmid(library: ServerLibrary, server: RedisServer, scene: Scene): Promise<void> {
  const store = scene.store(library.server(server))
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
}

/** The options of the user's client stay as they are. */
async function theUsersOwn(library: Library, server: RedisServer, scene: Scene): Promise<void> {
  const client = library.server(server) as IoRedisClient | NodeRedisClient
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
