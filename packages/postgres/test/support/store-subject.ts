import { randomUUID } from 'node:crypto'
import { migrate, PostgresLeaseStore, type PostgresLeaseStoreOptions } from '@leasehold/postgres'
import type { PostgresServer } from '@leasehold/testing/postgres-server'
import type { StoreSubject } from '@leasehold/testkit'
import { type Library, type Opened, pool } from './libraries.js'

/** Milliseconds. Long enough for several calls on a busy machine. */
const TTL = 9_000

/** Tables of their own, with the names that the options of a store have. */
export async function ownTables(server: PostgresServer): Promise<{ schema: string; table: string }> {
  const names = { schema: 'trials', table: `t${randomUUID().replaceAll('-', '')}` }
  const { client, end } = await pool.open(server.url)
  await migrate(client, names).finally(end)
  return names
}

/**
 * Stores over a client library on one server. All trials share its tables and a client, as the names of their leases are
 * their own: each connection compiles the functions of a table when it first calls them.
 */
export function storesOver(
  library: Library,
  server: () => PostgresServer,
  options: PostgresLeaseStoreOptions = {},
): StoreSubject & { end(): Promise<void> } {
  let shared: Promise<{ names: { schema: string; table: string }; opened: Opened }> | undefined
  const share = async () => ({ names: await ownTables(server()), opened: await library.open(server().url) })
  return {
    name: `postgres, by ${library.name}`,
    time: 'real',
    ttl: TTL,
    clients: true,
    serverTime: true,
    start: async () => {
      shared ??= share()
      const { names, opened } = await shared
      const table = `${names.schema}.${names.table}`
      const stores: PostgresLeaseStore[] = []
      return {
        open: () => {
          const store = new PostgresLeaseStore(opened.client, { ...names, ...options })
          stores.push(store)
          return store
        },
        delete: (name) => server().query(`delete from ${table} where name = $1`, [name]),
        copy: async (name) => {
          const copy = `${table}_${randomUUID().slice(0, 8).replaceAll('-', '')}`
          await server().query(`create table ${copy} as select * from ${table} where name = '${name}'`)
          return async () => {
            await server().query(`delete from ${table} where name = $1`, [name])
            await server().query(`insert into ${table} select * from ${copy}`)
          }
        },
        stop: async () => {
          for (const store of stores) await store.close()
        },
      }
    },
    end: async () => {
      if (shared !== undefined) await (await shared).opened.end()
    },
  }
}
