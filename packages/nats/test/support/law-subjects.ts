import { randomUUID } from 'node:crypto'
import type { LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { NatsLeaseStore } from '@leasehold/nats'
import { eventually, startProgram } from '@leasehold/testing'
import { NatsServer, type NatsServerOptions } from '@leasehold/testing/nats-server'
import { type StoreLaw, type StoreSubject, storeLaws, TcpProxy } from '@leasehold/testkit'
import { type KV, Kvm } from '@nats-io/kv'
import { connect, type NatsConnection } from '@nats-io/transport-node'

const never = new AbortableCall()

/** The laws that cut clients off. */
export const partitionLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('partition'))

/** The laws that need a server which begins again with all that it has confirmed. */
export const restartLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('restart'))

/** The laws that wait for a message of the server. */
export const watchLaws: readonly StoreLaw[] = storeLaws.filter(
  ({ needs, name }) => needs.includes('watch') || /wakes it/.test(name),
)

export const lawsWithoutWatch: readonly StoreLaw[] = storeLaws.filter((law) => !watchLaws.includes(law))

const COMMON = { clients: true, remote: true } as const

const holder = new URL('../programs/holder.ts', import.meta.url)

/** Stores over a connection of the user. Each trial has a bucket of its own. */
export function onConnection(server: () => NatsServer, connection: () => NatsConnection): StoreSubject {
  return {
    name: 'nats',
    time: 'virtual',
    ...COMMON,
    start: () => {
      const bucket = randomUUID()
      const opened = async (): Promise<KV> => await new Kvm(connection()).open(bucket)
      return {
        open: (clock) => new NatsLeaseStore(connection(), { bucket, clock }),
        delete: async (name) => (await opened()).delete(name),
        copy: async (name) => {
          const kv = await opened()
          const entry = await kv.get(name)
          return () => kv.put(name, entry?.value ?? '')
        },
        holdElsewhere: async (name) => {
          const { output, kill } = await startProgram(holder, [server().url, bucket, name, '10000'])
          return { fencingToken: BigInt(output), kill }
        },
      }
    },
  }
}

/** Stores on one server, each with a connection of its own to it that can be cut. */
export function behindProxies(server: () => NatsServer): StoreSubject {
  return {
    name: 'nats behind proxies',
    time: 'virtual',
    ...COMMON,
    start: () => {
      const bucket = randomUUID()
      const ways = new Map<LeaseStore, { readonly proxy: TcpProxy; readonly connection: NatsConnection }>()
      return {
        open: async (clock) => {
          const proxy = await TcpProxy.to(server().port)
          const connection = await connect({
            servers: `127.0.0.1:${proxy.port}`,
            reconnectTimeWait: 50,
            maxReconnectAttempts: -1,
            ignoreClusterUpdates: true,
          })
          const store = new NatsLeaseStore(connection, { bucket, clock })
          ways.set(store, { proxy, connection })
          return store
        },
        cutOff: (store) => ways.get(store)?.proxy.blackHole(),
        heal: async (store) => {
          ways.get(store)?.proxy.heal()
          await eventually('the store has noticed', async () => (await store.read('unused', never)) === undefined)
        },
        stop: async () => {
          for (const { proxy, connection } of ways.values()) {
            await connection.close()
            await proxy.close()
          }
        },
      }
    },
  }
}

/** Stores on a server of their own. */
export function onServerThatRestarts(options?: NatsServerOptions): StoreSubject {
  return {
    name: 'nats that restarts',
    time: 'virtual',
    ...COMMON,
    start: async () => {
      const server = await NatsServer.start(options)
      const connection = await connect({ servers: server.url, reconnectTimeWait: 50, maxReconnectAttempts: -1 })
      return {
        open: (clock) => new NatsLeaseStore(connection, { clock }),
        restart: async () => {
          await server.restart()
          // A store that is opened before the user's connection is up again does not know that it is down.
          await eventually('the connection is up', async () => (await connection.rtt()) >= 0)
        },
        stop: async () => {
          await connection.close()
          await server.stop()
        },
      }
    },
  }
}
