import { createLease, LeaseLostError, type StoreLease } from '@leasehold/core'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { eventually, turnsOf } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { drizzle } from 'drizzle-orm/node-postgres'
import { Kysely, PostgresDialect } from 'kysely'
import type { Pool } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { storeBehindPgBouncer } from './readme/behind-pgbouncer.js'
import { closeMonth } from './readme/close-month.js'
import { payFive } from './readme/in-sql.js'
import { closeBooks } from './readme/move-from-advisory-locks.js'
import { payOut as payOutByPg } from './readme/pay-out.js'
import { payOut as payOutByDrizzle } from './readme/with-drizzle.js'
import { payOut as payOutByKysely } from './readme/with-kysely.js'
import { payOut as payOutByPostgresJs } from './readme/with-postgres-js.js'
import { poolTo } from './support/pool-to.js'

const firstLease = new URL('./readme/first-lease.mjs', import.meta.url)

describePostgres('the examples of the documents', () => {
  let server: PostgresServer
  let pool: Pool
  let sql: postgres.Sql

  beforeAll(async () => {
    server = await PostgresServer.start()
    pool = poolTo(server)
    sql = postgres(server.url, { onnotice: () => {} })
    await migrate(pool)
    await pool.query('create table accounts (id int primary key, balance int not null)')
    await pool.query('insert into accounts values (1, 0)')
  })

  afterAll(async () => {
    await sql.end()
    await pool.end()
    await server.stop()
  })

  it('gives two processes with the first program of the guide their turns, also if the server breaks their connections', async () => {
    const turns = turnsOf(firstLease, { DATABASE_URL: server.url })
    await eventually('one of them works', async () => {
      const held = "select from leasehold.leases where name = 'mailbox' and state = 'leased'"
      return (await pool.query(held)).rowCount === 1
    })
    // As a restart of the server does. The connections of the pools are idle, unless the other process still creates the tables.
    const others = "pid <> pg_backend_pid() and datname = current_database() and state = 'idle'"
    await pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`)
    expect(new Set(await turns).size).toBe(2)
  })

  it('works under a lease', async () => {
    let isDone = false
    await closeMonth(server.url, async () => {
      isDone = true
    })
    expect(isDone).toBe(true)
  })

  it('holds an advisory lock beside the lease', async () => {
    const locks = "select objid::int as key from pg_locks where locktype = 'advisory' and objid = 4711"
    let during: unknown[] = []
    await closeBooks(pool, async () => {
      during = (await pool.query(locks)).rows
    })
    expect(during).toEqual([{ key: 4711 }])
    expect((await pool.query(locks)).rows).toEqual([])
  })

  it('takes a way of its own for notifications', async () => {
    const way = poolTo(server)
    const store = storeBehindPgBouncer(way, pool)
    const holder = createLease(new PostgresLeaseStore(pool), 'bounced')
    await holder.acquire()
    const waiting = createLease(store, 'bounced').acquire({ wait: 60_000 })
    await holder.release()
    expect(await waiting).toBe(true)
    await store.close()
    await way.end()
  })

  const ways: Record<string, (lease: StoreLease) => Promise<unknown>> = {
    pg: (lease) => payOutByPg(pool, lease, 1, 5),
    'postgres.js': (lease) => payOutByPostgresJs(sql, lease, 1, 5),
    Drizzle: (lease) => payOutByDrizzle(drizzle(pool), lease, 1, 5),
    Kysely: (lease) => payOutByKysely(new Kysely({ dialect: new PostgresDialect({ pool }) }), lease, 1, 5),
  }

  it.each(Object.entries(ways))(
    'writes under the guard by %s, and nothing after the lease was broken',
    async (_, payOut) => {
      const store = new PostgresLeaseStore(pool)
      const lease = createLease(store, 'close-month')
      expect(await lease.acquire()).toBe(true)
      const balance = async () => (await pool.query('select balance from accounts')).rows[0].balance
      const before = await balance()
      await payOut(lease)
      expect(await balance()).toBe(before - 5)
      await pool.query(`update leasehold.leases set locked_until = '-infinity', state = 'broken'`)
      await expect(payOut(lease)).rejects.toBeInstanceOf(LeaseLostError)
      expect(await balance()).toBe(before - 5)
      await store.close()
    },
  )

  it('writes under the guard by SQL alone', async () => {
    const store = new PostgresLeaseStore(pool)
    const lease = createLease(store, 'by SQL')
    await lease.acquire()
    await expect(payFive(pool, lease.fencingToken ?? 0n)).rejects.toMatchObject({ code: 'LH001' })
    const month = createLease(store, 'close-month')
    await month.acquire()
    await payFive(pool, month.fencingToken ?? 0n)
    await store.close()
  })
})
