import { LeaseConfigurationError, LeaseConflictError, LeaseTimeoutError, LeaseUnauthorisedError } from '@leasehold/core'
import { migrate, PostgresGuard } from '@leasehold/postgres'
import { entityMigrations, migrateEntities, postgresState } from '@leasehold/sharding/postgres'
import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Client, Pool, type PoolConfig } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { describeStateLaws } from './describe-state-laws.js'

const entity = { snapshot: { context: { balance: 5 } }, version: 1, handled: [] }

describe('postgresState refuses', () => {
  it.each([
    [{ tabel: 'a' }, /postgresState has no option 'tabel'.*did you mean 'table'/],
    [{ table: 'a b' }, /table must be up to 40 letters/],
    [{ maxBytes: 1.5 }, /maxBytes must be a positive, whole number of bytes/],
  ])('%o', (options, message) => {
    expect(() => postgresState(new Pool(), options as object)).toThrow(message)
    expect(() => postgresState(new Pool(), options as object)).toThrow(LeaseConfigurationError)
  })

  it('what is no client', () => {
    expect(() => postgresState('postgres://localhost' as never)).toThrow(/pass a Pool or a connected Client of pg/)
  })
})

describePostgres('postgresState on a server', () => {
  let server: PostgresServer
  let admin: Pool

  beforeAll(async () => {
    server = await PostgresServer.start({ password: 'secret' })
    admin = new Pool({ connectionString: server.url, max: 4 })
    admin.on('error', () => {})
    await Promise.all([1, 2, 3, 4].map(() => migrateEntities(admin)))
  })

  afterAll(async () => {
    await admin.end()
    await server.stop()
  })

  function poolWith(options: PoolConfig = {}): Pool {
    const pool = new Pool({ connectionString: server.url, max: 3, ...options })
    pool.on('error', () => {})
    onTestFinished(() => pool.end())
    return pool
  }

  /** Resolves when this number of transactions wait for a lock. */
  async function waiting(count: number): Promise<void> {
    await eventually(`${count} transactions wait`, async () => {
      const sql = "select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock'"
      return (await admin.query(sql)).rows[0]?.count === count
    })
  }

  describeStateLaws({
    name: 'postgresState with postgres.js and one Client, under the strictest isolation',
    start: () => {
      const sql = postgres(server.url, { max: 3, onnotice: () => {} })
      const client = new Client({
        connectionString: server.url,
        options: '-c default_transaction_isolation=serializable',
      })
      let isReady: Promise<unknown> | undefined
      let count = 0
      return {
        open: async () => {
          isReady ??= client
            .connect()
            .then(() => admin.query('truncate leasehold.leases_entities, leasehold.leases_fences'))
          await isReady
          count += 1
          return count % 2 === 0 ? postgresState(client) : postgresState(sql)
        },
        stop: async () => {
          await sql.end()
          await client.end()
        },
      }
    },
  })

  it('keeps an entity in a row that SQL can look into, under a fence of PostgresGuard', async () => {
    await postgresState(admin).forRegion?.('accounts').save('account-7', entity, 5n)
    const { rows } = await admin.query(
      `select entity -> 'snapshot' -> 'context' ->> 'balance' as balance from leasehold.leases_entities
        where region = 'accounts' and id = 'account-7'`,
    )
    expect(rows).toEqual([{ balance: '5' }])
    const client = await admin.connect()
    await client.query('begin')
    const older = new PostgresGuard().transact('entity "accounts" account-7', 4n, client)
    await expect(older).rejects.toThrow(/older than 5/)
    await client.query('rollback')
    client.release()
  })

  it('uses the schema and the table of its options', async () => {
    const names = { schema: 'other', table: 'locks' }
    await migrateEntities(admin, names)
    await postgresState(admin, names).save('a', entity, 1n)
    expect((await admin.query('select id from other.locks_entities')).rows).toEqual([{ id: 'a' }])
  })

  it('works with tables that a tool of the user has made, again and again', async () => {
    const names = { schema: 'by_tool' }
    for (const { sql } of [...(await entityMigrations(names)), ...(await entityMigrations(names))])
      await admin.query(sql)
    await migrateEntities(admin, names)
    await postgresState(admin, names).save('a', entity, 1n)
    expect(await postgresState(admin, names).load('a', 1n)).toEqual(entity)
  })

  it('says what to do where the tables are missing', async () => {
    const missing = postgresState(admin, { schema: 'nowhere' }).load('a', 1n)
    await expect(missing).rejects.toThrow(LeaseConfigurationError)
    await expect(missing).rejects.toThrow(/does not exist: the tables are missing: call migrateEntities\(\)/)
    await expect(missing).rejects.not.toThrow(/call migrate\(\)/)
    // The tables of the leases alone are not enough.
    await migrate(admin, { schema: 'half' })
    await expect(postgresState(admin, { schema: 'half' }).save('a', entity, 1n)).rejects.toThrow(/migrateEntities/)
  })

  it('says what to do for a wrong password, a wrong database, and a user without rights', async () => {
    const wrong = postgresState(poolWith({ connectionString: server.url.replace('secret', 'wrong') })).load('a', 1n)
    await expect(wrong).rejects.toThrow(LeaseUnauthorisedError)
    await expect(wrong).rejects.toThrow(/check the user, the password/)
    const nowhere = postgresState(poolWith({ connectionString: server.url.replace(/\w+$/, 'nowhere') })).load('a', 1n)
    await expect(nowhere).rejects.toThrow(/create the database, or correct the URL/)
    await admin.query("create role weak login password 'weak'")
    const url = server.url.replace(/\/\/.*@/, '//weak:weak@')
    const denied = postgresState(poolWith({ connectionString: url })).save('a', entity, 1n)
    await expect(denied).rejects.toThrow(LeaseUnauthorisedError)
    await expect(denied).rejects.toThrow(/the user needs USAGE on the schema/)
    await expect(migrateEntities(poolWith({ connectionString: url }), { schema: 'new' })).rejects.toThrow(
      /needs CREATE/,
    )
  })

  it('ends a call to a server that hangs or is down, and does not take it for a refusal', async () => {
    const frozen = await PostgresServer.start()
    const pool = new Pool({ connectionString: frozen.url, max: 3 })
    pool.on('error', () => {})
    await migrateEntities(pool)
    const state = postgresState(pool, { timeout: 300 })
    // The first call on a connection is not always within the limit.
    await postgresState(pool).save('a', entity, 1n)
    frozen.freeze()
    const error = await state.save('a', entity, 1n).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseTimeoutError)
    expect((error as Error).message).toMatch(/the save of entity 'a' had no answer from postgres within 300 ms/)
    frozen.thaw()
    await frozen.stop()
    const down = await postgresState(poolWith({ connectionString: frozen.url }))
      .load('a', 1n)
      .catch((reason: unknown) => reason)
    expect(down).not.toBeInstanceOf(LeaseConflictError)
    expect((down as Error).message).toMatch(
      /the load of entity 'a' failed: .*ECONNREFUSED.*check that the server runs and can be reached/,
    )
    await pool.end()
  })

  it('saves of one entity at the same time come one after the other', async () => {
    const state = postgresState(poolWith({ max: 5 }))
    const saves = Array.from({ length: 5 }, (_, count) => state.save('twice', { ...entity, version: count }, 1n))
    expect(await Promise.allSettled(saves)).toEqual(saves.map(() => ({ status: 'fulfilled', value: undefined })))
  })

  it('two regions have fences of their own', async () => {
    const [accounts, carts] = ['region-1 a', 'region-1 b'].map((name) => postgresState(admin).forRegion?.(name))
    await accounts?.save('7', entity, 9n)
    await carts?.save('7', entity, 3n)
    expect(await carts?.load('7', 3n)).toEqual(entity)
  })

  it('repeats a transaction that is in conflict with another one', async () => {
    const state = postgresState(poolWith({ options: '-c default_transaction_isolation=repeatable\\ read' }))
    await state.save('conflict', entity, 1n)
    const blocker = await admin.connect()
    onTestFinished(() => blocker.release())
    await blocker.query('begin')
    await blocker.query(`update leasehold.leases_fences set fencing_token = 1 where resource = 'entity "" conflict'`)
    const saving = state.save('conflict', { ...entity, version: 2 }, 1n)
    await waiting(1)
    await blocker.query('commit')
    await saving
    expect(await state.load('conflict', 1n)).toEqual({ ...entity, version: 2 })
  })

  it('a load reads what a save before its fence has written', async () => {
    const [before, after] = [postgresState(poolWith()), postgresState(poolWith())]
    await before.save('slow', entity, 1n)
    const blocker = await admin.connect()
    onTestFinished(() => blocker.release())
    // The save has its fence, and waits for the row; the load waits for the fence.
    await blocker.query('begin')
    await blocker.query("select 1 from leasehold.leases_entities where id = 'slow' for update")
    const saving = before.save('slow', { ...entity, version: 2 }, 1n)
    await waiting(1)
    const loading = after.load('slow', 2n)
    await waiting(2)
    await blocker.query('commit')
    await saving
    expect(await loading).toEqual({ ...entity, version: 2 })
  })

  it('saves many entities in few transactions', async () => {
    const pool = poolWith({ max: 5 })
    const state = postgresState(pool)
    await state.load('entity-0', 1n)
    const count = async (): Promise<number> => {
      const { rows } = await admin.query('select pg_current_xact_id()::text as id')
      return Number(rows[0]?.id)
    }
    const before = await count()
    await Promise.all(Array.from({ length: 500 }, (_, place) => state.save(`entity-${place}`, entity, 1n)))
    expect((await count()) - before).toBeLessThan(50)
    expect(
      (await admin.query("select count(*)::int as count from leasehold.leases_entities where id like 'entity-%'")).rows,
    ).toEqual([{ count: 500 }])
  })
})
