import type { RedisClient, RedisLeaseStoreOptions } from '@leasehold/redis'
import { UpstashFront } from '@leasehold/testing/upstash-front'
import { Redis as UpstashRedis } from '@upstash/redis'
import { GlideClient, GlideClusterClient } from '@valkey/valkey-glide'
import { Cluster, Redis } from 'ioredis'
import * as iovalkeyPackage from 'iovalkey'
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
  readonly username?: string | undefined
  readonly password?: string | undefined
  readonly keyPrefix?: string
}

/** The Sentinels of a master. */
interface Group {
  readonly name: string
  readonly sentinels: readonly Address[]
}

/** A client library, with clients as its users make them: nothing is configured but where the server is. */
export interface ServerLibrary {
  readonly name: string
  /** For the laws. */
  readonly storeOptions?: RedisLeaseStoreOptions
  /** Clients that are not connected: the store must not need it. */
  server(address: Address): RedisClient
}

/** Whose clients also find the nodes of a cluster. */
export interface ClusterLibrary extends ServerLibrary {
  cluster(nodes: readonly Address[], access?: ClusterAccess): RedisClient
}

/** Whose clients put a prefix before each key, and also ask Sentinels. */
export interface Library extends ClusterLibrary {
  server(address: Address, options?: { readonly keyPrefix?: string }): RedisClient
  sentinel(group: Group): RedisClient
}

const host = '127.0.0.1'

/** ioredis, and iovalkey, which began as a copy of it. */
function ioredisLike(
  name: string,
  library: { readonly Redis: typeof Redis; readonly Cluster: typeof Cluster },
): Library {
  return {
    name,
    server: ({ port, username, password, ca }, options = {}) =>
      new library.Redis({
        port,
        host,
        lazyConnect: true,
        ...(username === undefined ? {} : { username }),
        ...(password === undefined ? {} : { password }),
        ...(ca === undefined ? {} : { tls: { ca } }),
        ...options,
      }),
    cluster: (nodes, { username, password, ...options } = {}) =>
      new library.Cluster(
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
      new library.Redis({ name, sentinels: sentinels.map(({ port }) => ({ port, host })), lazyConnect: true }),
  }
}

const ioredis = ioredisLike('ioredis', { Redis, Cluster })
export const iovalkey = ioredisLike('iovalkey', iovalkeyPackage as unknown as Parameters<typeof ioredisLike>[1])

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

/** The store needs the class and the configuration of a client, and not the client itself: one of each class is enough. */
async function glideModels() {
  const options = { addresses: [{ host, port: 1 }], lazyConnect: true }
  const models = {
    server: await GlideClient.createClient(options),
    cluster: await GlideClusterClient.createClient(options),
  }
  models.server.close()
  models.cluster.close()
  return models
}

const glideModel = await glideModels()

function withConfiguration<T extends object>(model: T, config: object): T {
  return Object.create(model, { config: { value: config } }) as T
}

function credentials({ username, password }: ClusterAccess): object {
  return password === undefined ? {} : { credentials: { password, ...(username === undefined ? {} : { username }) } }
}

export const glide: ClusterLibrary = {
  name: 'Valkey GLIDE',
  server: ({ port, username, password, ca }) =>
    withConfiguration(glideModel.server, {
      addresses: [{ host, port }],
      ...credentials({ username, password }),
      ...(ca === undefined
        ? {}
        : { useTLS: true, advancedConfiguration: { tlsAdvancedConfiguration: { rootCertificates: ca } } }),
    }),
  cluster: (nodes, access = {}) =>
    withConfiguration(glideModel.cluster, {
      addresses: nodes.map(({ port }) => ({ host, port })),
      ...credentials(access),
    }),
}

const front = await UpstashFront.start()

export const upstash: ServerLibrary = {
  name: '@upstash/redis',
  // A place lasts for five times this, or a ttl: the laws repeat no request before a ttl of 6 s is over.
  storeOptions: { pollInterval: 1_300 },
  server: (address) => new UpstashRedis({ ...front.access(address), enableTelemetry: false }),
}

/** Those that can do all that a client can. */
export const libraries: readonly Library[] = [ioredis, nodeRedis]

/** Without iovalkey, see below. */
export const differingClusterLibraries: readonly ClusterLibrary[] = [...libraries, glide]

/** For tests that take long: they leave out iovalkey, because it began as a copy of ioredis. */
export const differingLibraries: readonly ServerLibrary[] = [...differingClusterLibraries, upstash]

export const sentinelLibraries: readonly Library[] = [...libraries, iovalkey]

export const clusterLibraries: readonly ClusterLibrary[] = [...sentinelLibraries, glide]

export const serverLibraries: readonly ServerLibrary[] = [...clusterLibraries, upstash]
