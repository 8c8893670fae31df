import { randomUUID } from 'node:crypto'
import { MysqlLeaseStore, type MysqlLeaseStoreOptions, migrate } from '@leasehold/mysql'
import type { MysqlServer } from '@leasehold/testing/mysql-server'
import type { StoreSubject } from '@leasehold/testkit'
import { type Library, type Opened, pool } from './libraries.js'

/** Milliseconds. Long enough for several calls on a busy machine. */
const TTL = 9_000

/** Tables of their own. */
async function ownTables(server: MysqlServer): Promise<{ table: string }> {
  const names = { table: `t${randomUUID().replaceAll('-', '')}` }
  const { client, end } = await pool.open(server)
  await migrate(client, names).finally(end)
  return names
}

/** Stores over a client library on one server. All trials share its tables and a client: the names of leases are their own. */
export function storesOver(
  library: Library,
  server: () => MysqlServer,
  options: MysqlLeaseStoreOptions = {},
): StoreSubject & { end(): Promise<void> } {
  let shared: Promise<{ table: string; opened: Opened }> | undefined
  const share = async () => ({ ...(await ownTables(server())), opened: await library.open(server()) })
  return {
    name: `MysqlLeaseStore, by ${library.name}`,
    time: 'real',
    ttl: TTL,
    clients: true,
    serverTime: true,
    start: async () => {
      shared ??= share()
      const { table, opened } = await shared
      const stores: MysqlLeaseStore[] = []
      return {
        open: () => {
          const store = new MysqlLeaseStore(opened.client, { table, ...options })
          stores.push(store)
          return store
        },
        delete: (name) => server().query(`delete from ${table} where name = '${name}'`),
        copy: async (name) => {
          const copy = `c${randomUUID().replaceAll('-', '')}`
          await server().query(`create table ${copy} as select * from ${table} where name = '${name}'`)
          return async () => {
            await server().query(`delete from ${table} where name = '${name}'`)
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
