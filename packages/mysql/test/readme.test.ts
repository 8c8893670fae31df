import { createLease, LeaseLostError, type StoreLease } from '@leasehold/core'
import { MysqlLeaseStore } from '@leasehold/mysql'
import { eventually, turnsOf } from '@leasehold/testing'
import { describeMysql } from '@leasehold/testing/describe-mysql'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { drizzle } from 'drizzle-orm/mysql2'
import knexOf from 'knex'
import { Kysely, MysqlDialect } from 'kysely'
import { createPool as createCallbackPool } from 'mysql2'
import type { Pool } from 'mysql2/promise'
import { DataSource } from 'typeorm'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { closeMonth } from './readme/close-month.js'
import { payOut } from './readme/pay-out.js'
import { payOut as payOutByDrizzle } from './readme/with-drizzle.js'
import { payOut as payOutByKnex } from './readme/with-knex.js'
import { payOut as payOutByKysely } from './readme/with-kysely.js'
import { payOut as payOutByMariadb } from './readme/with-mariadb.js'
import { payOut as payOutByTypeorm } from './readme/with-typeorm.js'
import { mariadbPoolTo, poolTo } from './support/libraries.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

describeMysql('the examples of the documents', (kind) => {
  let server: MysqlServer
  let pool: Pool
  const ends: (() => Promise<unknown>)[] = []

  beforeAll(async () => {
    server = await MysqlServer.start(kind)
    pool = poolTo(server)
    await pool.query('create table accounts (id int primary key, balance int not null)')
    await pool.query('insert into accounts values (1, 0)')
  })

  afterAll(async () => {
    for (const end of ends) await end()
    await pool.end()
    await server.stop()
  })

  it('gives two processes with the first program of the guide their turns, also if the server breaks their connections', async () => {
    const turns = turnsOf(firstLease, { DATABASE_URL: server.url })
    await eventually('one of them works', async () => {
      const held = "select 1 from leasehold_leases where name = 'mailbox' and state = 'leased'"
      return (await server.query(held)).length === 1
    })
    // As a restart of the server does. The connections of the pools are idle.
    for (const { Id, Command } of await server.query('show processlist')) {
      if (Command === 'Sleep') await server.query(`kill ${Id}`).catch(() => {})
    }
    expect(new Set(await turns).size).toBe(2)
  })

  it('works under a lease', async () => {
    let isDone = false
    await closeMonth(server.url, async () => {
      isDone = true
    })
    expect(isDone).toBe(true)
  })

  const connection = () => ({ host: '127.0.0.1', port: server.port, user: 'root', database: 'test' })

  const ways: Record<string, (lease: StoreLease) => Promise<unknown>> = {
    mysql2: (lease) => payOut(pool, lease, 1, 5),
    mariadb: async (lease) => {
      const client = mariadbPoolTo(server)
      await payOutByMariadb(client, lease, 1, 5).finally(() => client.end())
    },
    Drizzle: (lease) => payOutByDrizzle(drizzle(pool), lease, 1, 5),
    Kysely: async (lease) => {
      const kysely = new Kysely<{ accounts: { id: number; balance: number } }>({
        dialect: new MysqlDialect({ pool: createCallbackPool(connection()) }),
      })
      await payOutByKysely(kysely, lease, 1, 5).finally(() => kysely.destroy())
    },
    TypeORM: async (lease) => {
      const { user, ...place } = connection()
      const source = await new DataSource({ type: 'mysql', username: user, ...place }).initialize()
      await payOutByTypeorm(source, lease, 1, 5).finally(() => source.destroy())
    },
    Knex: async (lease) => {
      const knex = knexOf({ client: 'mysql2', connection: connection() })
      await payOutByKnex(knex, lease, 1, 5).finally(() => knex.destroy())
    },
  }

  it.each(Object.entries(ways))(
    'writes under the guard by %s, and nothing after the lease was broken',
    async (name, pay) => {
      const store = new MysqlLeaseStore(pool)
      const lease = createLease(store, `close-month by ${name}`)
      expect(await lease.acquire()).toBe(true)
      const balance = async () => (await server.query('select balance from accounts'))[0]?.balance as number
      const before = await balance()
      await pay(lease)
      expect(await balance()).toBe(before - 5)
      await server.query("update leasehold_leases set locked_until = 0, state = 'broken'")
      await expect(pay(lease)).rejects.toBeInstanceOf(LeaseLostError)
      expect(await balance()).toBe(before - 5)
      await store.close()
    },
  )
})
