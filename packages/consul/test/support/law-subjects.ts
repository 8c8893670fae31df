import { randomUUID } from 'node:crypto'
import { type ConsulClusterOptions, ConsulLeaseStore } from '@leasehold/consul'
import type { LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { eventually, startProgram } from '@leasehold/testing'
import { ConsulServer } from '@leasehold/testing/consul-server'
import { type StoreLaw, type StoreSubject, storeLaws, TcpProxy } from '@leasehold/testkit'
import { LOCK_FLAGS } from '../../src/kv-entry.js'

/** In milliseconds. */
const TTL = 6_000

/** The servers of the tests take shorter sessions than usual. */
const MIN_TTL = 1_000

const never = new AbortableCall()

const common = {
  time: 'real',
  ttl: TTL,
  clients: true,
  serverTime: true,
} as const

/** The laws that cut clients off. */
export const partitionLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('partition'))

/** The laws that need a server which begins again with all that it has confirmed. */
export const restartLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('restart'))

/** What the user hands in. */
export interface OwnClient {
  /** For test names. */
  readonly name: string
  readonly cluster: (url: string) => ConsulClusterOptions
}

/** Stores on one server, which trials share. */
export function onServer(server: () => ConsulServer, own?: OwnClient): StoreSubject {
  return {
    name: own === undefined ? 'consul' : `consul over the user's ${own.name}`,
    ...common,
    start: () => {
      const prefix = `${randomUUID()}/`
      return {
        open: () => {
          const cluster = own?.cluster(server().url) ?? { addresses: [server().url] }
          return new ConsulLeaseStore({ ...cluster, prefix, minTtl: MIN_TTL })
        },
        delete: (name) => server().request('DELETE', `/kv/${prefix}${name}`),
        copy: (name) => copyOf(server(), prefix + name),
        holdElsewhere: async (name) => {
          const file = new URL('./holder.ts', import.meta.url)
          const { output, kill } = await startProgram(file, [server().url, prefix, name, TTL])
          return { fencingToken: BigInt(output), kill }
        },
      }
    },
  }
}

/** Stores on one server, each with a way of its own to it that can be cut. */
export function behindProxies(server: () => ConsulServer): StoreSubject {
  return {
    name: 'consul behind proxies',
    ...common,
    start: () => {
      const prefix = `${randomUUID()}/`
      const ways = new Map<LeaseStore, TcpProxy>()
      return {
        open: async () => {
          const way = await TcpProxy.to(server().port)
          const store = new ConsulLeaseStore({ addresses: [`http://127.0.0.1:${way.port}`], prefix, minTtl: MIN_TTL })
          ways.set(store, way)
          // Connected before the trial, because connecting must not use up the ttl.
          await store.read('unused', never)
          return store
        },
        cutOff: (store) => ways.get(store)?.blackHole(),
        heal: async (store) => {
          ways.get(store)?.heal()
          await eventually('the store has noticed', async () => (await store.read('unused', never)) === undefined)
        },
        delete: (name) => server().request('DELETE', `/kv/${prefix}${name}`),
        stop: async () => {
          for (const way of ways.values()) await way.close()
        },
      }
    },
  }
}

/** Stores on a server of their own, which writes to disk before it confirms. */
export const onServerThatRestarts: StoreSubject = {
  name: 'consul that restarts',
  ...common,
  start: async () => {
    const server = await ConsulServer.start({ durable: true })
    return {
      open: () => new ConsulLeaseStore({ addresses: [server.url], minTtl: MIN_TTL }),
      restart: () => server.restart(),
      stop: () => server.stop(),
    }
  },
}

/** Copies the value of a key; resolves with a function that puts it back. */
async function copyOf(server: ConsulServer, key: string): Promise<() => Promise<unknown>> {
  const [entry] = (await server.request('GET', `/kv/${key}`)) as [{ Value: string }]
  const operation = `{"KV":{"Verb":"set","Key":"${key}","Flags":${LOCK_FLAGS},"Value":"${entry.Value}"}}`
  return () => server.request('PUT', '/txn', { body: `[${operation}]` })
}
