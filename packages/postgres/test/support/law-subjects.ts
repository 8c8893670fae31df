import { type LeaseStore, systemClock } from '@leasehold/core'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { eventually } from '@leasehold/testing'
import { granted, never } from '@leasehold/testing/job-claims'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { type StoreLaw, type StoreSubject, storeLaws, TcpProxy } from '@leasehold/testkit'
import type { Pool } from 'pg'
import { poolTo } from './pool-to.js'
import { ownTables } from './store-subject.js'

/** Milliseconds. Long enough for several calls on a busy machine. */
const TTL = 6_000

/** The laws that cut clients off. */
export const partitionLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('partition'))

/** The laws that need a server which begins again with all that it has confirmed. */
export const restartLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('restart'))

/** Stores on one server, each with a pool and a proxy of its own that can be cut. */
export function behindProxies(server: () => PostgresServer): StoreSubject {
  let names: Promise<{ schema: string; table: string }> | undefined
  return {
    name: 'postgres behind proxies',
    time: 'real',
    ttl: TTL,
    clients: true,
    serverTime: true,
    start: () => {
      const ways = new Map<LeaseStore, TcpProxy>()
      const pools: Pool[] = []
      return {
        open: async () => {
          names ??= ownTables(server())
          const way = await TcpProxy.to(server().port)
          const pool = poolTo(way, { max: 2 })
          pools.push(pool)
          const store = await opened(new PostgresLeaseStore(pool, await names))
          ways.set(store, way)
          return store
        },
        cutOff: (store) => ways.get(store)?.blackHole(),
        heal: async (store) => {
          ways.get(store)?.heal()
          await eventually('the store has noticed', async () => (await store.read('unused', never)) === undefined)
        },
        stop: async () => {
          for (const way of ways.values()) await way.close()
          // A connection that has lost bytes may not end.
          for (const pool of pools) void pool.end().catch(() => {})
        },
      }
    },
  }
}

/** Stores on a server of their own, which begins again. */
export const onServerThatRestarts: StoreSubject = {
  name: 'postgres that begins again',
  time: 'real',
  ttl: TTL,
  clients: true,
  serverTime: true,
  start: async () => {
    const server = await PostgresServer.start()
    const pool = poolTo(server)
    await migrate(pool)
    return {
      open: () => opened(new PostgresLeaseStore(pool)),
      restart: () => server.restart(),
      stop: async () => {
        await pool.end()
        await server.stop()
      },
    }
  },
}

/** Connected before the trial, because connecting must not use up the ttl. */
async function opened(store: PostgresLeaseStore): Promise<PostgresLeaseStore> {
  await store.read('unused', never)
  return store
}

/** Makes the tables, and lets each connection compile their functions, before the first trial counts the time. */
export async function warmUp(subject: StoreSubject): Promise<void> {
  const backend = await subject.start(systemClock)
  const stores = await Promise.all(Array.from({ length: 8 }, () => backend.open(systemClock)))
  const names = stores.map((_, place) => `warm-up-${place}`)
  await Promise.all(stores.map((store, place) => granted(store, `${place}`, { name: names[place] ?? '' })))
  await backend.stop?.()
}
