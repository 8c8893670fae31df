import { randomUUID } from 'node:crypto'
import type { LeaseStore } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { type EtcdClient, type EtcdClientOptions, EtcdLeaseStore } from '@leasehold/etcd'
import { eventually } from '@leasehold/testing'
import { startProgram } from '@leasehold/testing/child-program'
import { EtcdServer } from '@leasehold/testing/etcd-server'
import { type StoreLaw, type StoreSubject, storeLaws, TcpProxy } from '@leasehold/testkit'

/** The server frees a name up to two seconds late: a small part of this ttl. */
const RULES = { time: 'real', ttl: 12_000, clients: true, serverTime: true } as const

export const never = new AbortableCall()

/** The laws that cut clients off. */
export const partitionLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('partition'))

/** The laws that need a server which begins again with all that it has confirmed. */
export const restartLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('restart'))

const holder = new URL('../programs/holder.ts', import.meta.url)

/** Stores on one server, which trials share. `over`: what the client of all stores is made of, for test names. */
export function onServer(server: () => EtcdServer, client?: () => EtcdClient, over = 'its own'): StoreSubject {
  return {
    name: client === undefined ? 'etcd' : `etcd over ${over}`,
    ...RULES,
    start: () => {
      const prefix = `${randomUUID()}/`
      return {
        open: () => opened(client?.() ?? { endpoints: [server().url] }, prefix),
        delete: (name) => deleteRecord(server(), prefix, name),
        copy: async (name) => {
          const key = `${prefix}${name}`
          const value = await server().ctl('get', key, '--print-value-only')
          return () => server().ctl('put', key, value.trimEnd())
        },
        holdElsewhere: async (name) => {
          const { output, kill } = await startProgram(holder, [server().url, prefix, name, RULES.ttl])
          return { fencingToken: BigInt(output), kill }
        },
      }
    },
  }
}

/** Stores on one server, each with a way of its own to it that can be cut. */
export function behindProxies(server: () => EtcdServer): StoreSubject {
  return {
    name: 'etcd at the end of a way',
    ...RULES,
    start: () => {
      const prefix = `${randomUUID()}/`
      const ways = new Map<LeaseStore, TcpProxy>()
      return {
        open: async () => {
          const way = await TcpProxy.to(server().port)
          const store = await opened({ endpoints: [`http://127.0.0.1:${way.port}`] }, prefix)
          ways.set(store, way)
          return store
        },
        cutOff: (store) => ways.get(store)?.blackHole(),
        heal: async (store) => {
          ways.get(store)?.heal()
          await eventually('the store has noticed', async () => (await store.read('unused', never)) === undefined)
        },
        delete: (name) => deleteRecord(server(), prefix, name),
        stop: async () => {
          for (const way of ways.values()) await way.close()
        },
      }
    },
  }
}

/** Stores on a server of their own. */
export function onServerThatRestarts(): StoreSubject {
  return {
    name: 'etcd that begins again',
    ...RULES,
    start: async () => {
      const server = await EtcdServer.start()
      return {
        open: () => opened({ endpoints: [server.url] }, 'leasehold/'),
        restart: () => server.restart(),
        stop: () => server.stop(),
      }
    },
  }
}

async function deleteRecord(server: EtcdServer, prefix: string, name: string): Promise<void> {
  await server.ctl('del', `${prefix}${name}`)
  await server.ctl('del', '--prefix', `${prefix}${name}/`)
}

/** Connected before the trial, because connecting must not use up the ttl. */
async function opened(client: EtcdClient | EtcdClientOptions, prefix: string): Promise<EtcdLeaseStore> {
  const store = new EtcdLeaseStore(client, { prefix })
  await store.read('unused', never)
  return store
}
