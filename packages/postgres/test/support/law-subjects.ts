import { randomUUID } from 'node:crypto'
import type { LeaseStore } from '@leasehold/core'
import { migrate, PostgresLeaseStore, type PostgresLeaseStoreOptions } from '@leasehold/postgres'
import { eventually, startProgram } from '@leasehold/testing'
import { PostgresServer, type PostgresServerOptions } from '@leasehold/testing/postgres-server'
import { type StoreLaw, type StoreSubject, storeLaws, TcpProxy } from '@leasehold/testkit'
import { Pool } from 'pg'
import { never, type Reachable } from './scene.js'

/** Milliseconds. Long enough for several calls on a busy machine. */
const TTL = 6_000

/** As many clients as most laws have. */
const FEW = 4

/** The laws that cut clients off. */
export const partitionLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('partition'))

/** The laws that need a server which begins again with all that it has confirmed. */
export const restartLaws: readonly StoreLaw[] = storeLaws.filter(({ needs }) => needs.includes('restart'))

/** How the stores of a subject reach the server. */
export interface Access {
  /** For test names. */
  readonly name: string
  /** The server with the tables. */
  readonly server: () => PostgresServer
  /** Where the stores connect; directly unless given. */
  readonly way?: () => Reachable
  readonly options?: PostgresLeaseStoreOptions
}

/** Stores on one server, which trials share: each trial has tables of its own. */
export function onServer({ name, server, way = server, options }: Access): StoreSubject {
  return {
    name,
    time: 'real',
    ttl: TTL,
    clients: true,
    serverTime: true,
    start: async () => {
      const { schema, access } = await ownTables(server)
      const pools: Pool[] = []
      return {
        open: async () => {
          const pool = poolOf(way())
          pools.push(pool)
          return await connected(new PostgresLeaseStore(pool, { ...options, schema }), pools.length)
        },
        ...access,
        holdElsewhere: async (lease) => {
          const file = new URL('./holder.ts', import.meta.url)
          const { output, kill } = await startProgram(file, [way().port, schema, lease, TTL])
          return { fencingToken: BigInt(output), kill }
        },
        stop: async () => {
          await Promise.all(pools.map((pool) => pool.end()))
        },
      }
    },
  }
}

/** Stores on one server, each with a proxy of its own that can be cut. */
export function behindProxies({ name, server, options }: Access): StoreSubject {
  return {
    name,
    time: 'real',
    ttl: TTL,
    clients: true,
    serverTime: true,
    start: async () => {
      const { schema, access } = await ownTables(server)
      const ways = new Map<LeaseStore, TcpProxy>()
      return {
        open: async () => {
          const way = await TcpProxy.to(server().port)
          const store = await connected(new PostgresLeaseStore(poolOf(way), { ...options, schema }), ways.size)
          ways.set(store, way)
          return store
        },
        ...access,
        cutOff: (store) => ways.get(store)?.blackHole(),
        heal: async (store) => {
          ways.get(store)?.heal()
          await eventually('the store has noticed', async () => (await store.read('unused', never)) === undefined)
        },
        stop: async () => {
          for (const way of ways.values()) await way.close()
        },
      }
    },
  }
}

/** Stores on a server of their own, which begins again. */
export function onServerThatRestarts(name: string, options?: PostgresServerOptions): StoreSubject {
  return {
    name,
    time: 'real',
    ttl: TTL,
    clients: true,
    serverTime: true,
    start: async () => {
      const server = await PostgresServer.start(options)
      const { schema } = await ownTables(() => server)
      return {
        open: async () => await connected(new PostgresLeaseStore(poolOf(server), { schema }), 0),
        restart: () => server.restart(),
        stop: () => server.stop(),
      }
    },
  }
}

/** A schema for one trial, and the hand of an operator in it. */
async function ownTables(server: () => PostgresServer) {
  const schema = `trial_${randomUUID().replaceAll('-', '')}`
  const pool = poolOf(server())
  try {
    await migrate(pool, { schema })
  } finally {
    await pool.end()
  }
  const leases = `${schema}.leases`
  return {
    schema,
    access: {
      delete: (name: string) => server().query(`DELETE FROM ${leases} WHERE name = $1`, [name]),
      copy: async (name: string) => {
        const [row] = await server().query(`SELECT to_json(l) AS copy FROM ${leases} l WHERE name = $1`, [name])
        return async () => {
          await server().query(
            `WITH gone AS (DELETE FROM ${leases} WHERE name = $1 RETURNING 1) SELECT count(*) FROM gone`,
            [name],
          )
          await server().query(`INSERT INTO ${leases} SELECT * FROM json_populate_record(null::${leases}, $1)`, [
            row?.copy,
          ])
        }
      },
    },
  }
}

function poolOf({ port }: Reachable): Pool {
  const pool = new Pool({ host: '127.0.0.1', port, user: 'postgres', database: 'postgres', max: 3 })
  pool.on('error', () => {})
  return pool
}

/** A few clients are connected before the trial, because connecting must not use up the ttl; a crowd connects at once. */
async function connected(store: PostgresLeaseStore, count: number): Promise<PostgresLeaseStore> {
  if (count <= FEW) await store.read('unused', never)
  return store
}
