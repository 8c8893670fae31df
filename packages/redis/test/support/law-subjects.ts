import { randomUUID } from 'node:crypto'
import type { LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { type RedisClient, RedisLeaseStore } from '@leasehold/redis'
import { eventually } from '@leasehold/testing'
import { RedisServer } from '@leasehold/testing/redis-server'
import type { ServerProgram } from '@leasehold/testing/server-program'
import { type StoreLaw, type StoreSubject, storeLaws, TcpProxy } from '@leasehold/testkit'
import { startChild } from './child.js'
import type { ClusterLibrary, ServerLibrary } from './libraries.js'
import type { RedisCluster } from './redis-cluster.js'

/** Milliseconds. Long enough for several calls on a busy machine. */
const TTL = 6_000

/** To make a client of a cluster, and its way to the nodes, takes far longer. */
const CLUSTER_TTL = 12_000

/** As many clients as most laws have. */
const FEW = 4

const never = new AbortableCall()

/** The laws that cut clients off. */
export const partitionLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('partition'))

/** The laws that need a server which begins again with all that it has confirmed. */
export const restartLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('restart'))

/** Stores on one server, which trials share. */
export function onServer(library: ServerLibrary, server: () => RedisServer, isWithOldKeys = false): StoreSubject {
  let client: RedisClient | undefined
  return {
    name: `redis, by ${library.name}${isWithOldKeys ? ', with compat' : ''}`,
    time: 'real',
    ttl: TTL,
    clients: true,
    serverTime: true,
    start: () => {
      const prefix = `${randomUUID()}:`
      const oldKey = (name: string) => `old:${prefix}${name}`
      const compat = isWithOldKeys ? { library: 'redlock' as const, key: oldKey } : undefined
      let count = 0
      return {
        open: () => {
          client ??= library.server(server())
          count += 1
          return connected(new RedisLeaseStore(client, { ...library.storeOptions, prefix, compat }), count)
        },
        delete: (name) => server().command('DEL', `${prefix}{${name}}`, oldKey(name)),
        copy: async (name) => {
          const [key, copy] = [`${prefix}{${name}}`, `copy:${prefix}{${name}}`]
          await server().command('COPY', key, copy)
          return () => server().command('COPY', copy, key, 'REPLACE')
        },
        holdElsewhere: async (name) => {
          const { said, kill } = await startChild('holder', [server().port, prefix, name, TTL])
          return { fencingToken: BigInt(said), kill }
        },
      }
    },
  }
}

/** Stores on one server, each with a way of its own to it that can be cut. */
export function behindProxies(library: ServerLibrary, server: () => RedisServer): StoreSubject {
  return {
    name: `redis at the end of a way, by ${library.name}`,
    time: 'real',
    ttl: TTL,
    clients: true,
    serverTime: true,
    start: () => {
      const prefix = `${randomUUID()}:`
      const ways = new Map<LeaseStore, TcpProxy>()
      return {
        open: async () => {
          const way = await TcpProxy.to(server().port)
          const store = await opened(new RedisLeaseStore(library.server(way), { ...library.storeOptions, prefix }))
          ways.set(store, way)
          return store
        },
        cutOff: (store) => ways.get(store)?.blackHole(),
        heal: async (store) => {
          ways.get(store)?.heal()
          await eventually('the store has noticed', () => isReached(store))
        },
        delete: (name) => server().command('DEL', `${prefix}{${name}}`),
        stop: async () => {
          for (const way of ways.values()) await way.close()
        },
      }
    },
  }
}

/** Stores on a server of their own, which writes to disk before it confirms. */
export function onServerThatRestarts(library: ServerLibrary, program: ServerProgram): StoreSubject {
  return {
    name: `redis that begins again, by ${library.name}`,
    time: 'real',
    ttl: TTL,
    clients: true,
    serverTime: true,
    start: async () => {
      const server = await RedisServer.start({ program, args: ['--appendonly', 'yes', '--appendfsync', 'always'] })
      const stores: RedisLeaseStore[] = []
      return {
        open: async () => {
          const store = await opened(new RedisLeaseStore(library.server(server), library.storeOptions))
          stores.push(store)
          return store
        },
        restart: async () => {
          await server.restart()
          // GLIDE does not say that a connection has ended: the first request over it gets no answer.
          for (const store of stores) await eventually('the store has noticed', () => isReached(store))
        },
        stop: () => server.stop(),
      }
    },
  }
}

/** Stores on a cluster that trials share. */
export function onCluster(library: ClusterLibrary, cluster: () => RedisCluster): StoreSubject {
  let client: RedisClient | undefined
  return {
    name: `a cluster of redis, by ${library.name}`,
    time: 'real',
    ttl: CLUSTER_TTL,
    clients: true,
    serverTime: true,
    start: () => {
      const prefix = `${randomUUID()}:`
      let count = 0
      return {
        open: () => {
          client ??= library.cluster(cluster().nodes)
          count += 1
          return connected(new RedisLeaseStore(client, { prefix }), count)
        },
        delete: async (name) => {
          const key = `${prefix}{${name}}`
          const owner = await cluster().ownerOf(await cluster().slotOf(key))
          await owner.command('DEL', key)
        },
        copy: async (name) => {
          const [key, copied] = [`${prefix}{${name}}`, `copy:${prefix}{${name}}`]
          const owner = await cluster().ownerOf(await cluster().slotOf(key))
          await owner.command('COPY', key, copied)
          return () => owner.command('COPY', copied, key, 'REPLACE')
        },
      }
    },
  }
}

/** A few clients are connected before the trial, because connecting must not use up the ttl; a crowd connects at once. */
function connected(store: RedisLeaseStore, count: number): RedisLeaseStore | Promise<RedisLeaseStore> {
  return count <= FEW ? opened(store) : store
}

async function isReached(store: LeaseStore): Promise<boolean> {
  return (await store.read('unused', never)) === undefined
}

async function opened(store: RedisLeaseStore): Promise<RedisLeaseStore> {
  await store.read('unused', never)
  return store
}
