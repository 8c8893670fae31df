import type { RedisClient } from '@leasehold/redis'
import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster, createSentinel } from 'redis'

/** Where a server listens on this machine, and as whom it is asked. */
interface Address {
  readonly port: number
  readonly username?: string
  readonly password?: string | undefined
  /** The certificate that vouches for it, for one that speaks TLS. */
  readonly ca?: string | undefined
}

/** The user of a cluster, and the prefix of keys. */
interface ClusterAccess {
  readonly username?: string
  readonly password?: string
  readonly keyPrefix?: string
}

/** The Sentinels of a master. */
interface Group {
  readonly name: string
  readonly sentinels: readonly Address[]
}

/** A client library, with clients as its users make them: nothing is configured but where the server is. */
export interface Library {
  readonly name: string
  /** Clients that are not connected: the store must not need it. */
  server(address: Address, options?: { readonly keyPrefix?: string }): RedisClient
  cluster(nodes: readonly Address[], access?: ClusterAccess): RedisClient
  sentinel(group: Group): RedisClient
}

const host = '127.0.0.1'

const ioredis: Library = {
  name: 'ioredis',
  server: ({ port, username, password, ca }, options = {}) =>
    new Redis({
      port,
      host,
      lazyConnect: true,
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      ...(ca === undefined ? {} : { tls: { ca } }),
      ...options,
    }),
  cluster: (nodes, { username, password, ...options } = {}) =>
    new Cluster(
      nodes.map(({ port }) => ({ port, host })),
      {
        lazyConnect: true,
        ...options,
        redisOptions: {
          ...(username === undefined ? {} : { username }),
          ...(password === undefined ? {} : { password }),
        },
      },
    ),
  sentinel: ({ name, sentinels }) =>
    new Redis({ name, sentinels: sentinels.map(({ port }) => ({ port, host })), lazyConnect: true }),
}

/** To make a class of all commands takes `createClient` as long as a hundred round trips: once is enough. */
const model = { server: createClient(), cluster: createCluster({ rootNodes: [] }) }

const nodeRedis: Library = {
  name: 'node-redis',
  server: ({ port, username, password, ca }, options = {}) =>
    model.server.duplicate({
      ...(username === undefined ? {} : { username }),
      ...(password === undefined ? {} : { password }),
      socket: ca === undefined ? { port, host } : { port, host, tls: true, ca },
      ...options,
    }),
  cluster: (nodes, { username, password, ...options } = {}) =>
    model.cluster.duplicate({
      ...options,
      rootNodes: nodes.map(({ port }) => ({ socket: { port, host } })),
      defaults: {
        ...(username === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password }),
      },
    }),
  sentinel: ({ name, sentinels }) =>
    createSentinel({ name, sentinelRootNodes: sentinels.map(({ port }) => ({ port, host })) }),
}

export const libraries: readonly Library[] = [ioredis, nodeRedis]
