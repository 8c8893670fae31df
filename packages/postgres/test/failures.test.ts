import { randomUUID } from 'node:crypto'
import { LeaseConfigurationError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { migrate, migrations, type PostgresClient, PostgresLeaseStore } from '@leasehold/postgres'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import type { Pool, PoolConfig } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poolTo } from './support/pool-to.js'

const never = new AbortableCall()

const claim = () => ({ name: randomUUID(), owner: 'anna', grantId: randomUUID(), ttl: 60_000 })

describePostgres('postgres', () => {
  let server: PostgresServer
  let pool: Pool

  beforeAll(async () => {
    server = await PostgresServer.start()
    pool = poolTo(server)
    await migrate(pool)
  })

  afterAll(async () => {
    await pool.end()
    await server.stop()
  })

  /** How an acquisition fails over a pool with these settings. */
  async function failure(config: PoolConfig, options = {}): Promise<unknown> {
    const own = poolTo(server, config)
    const store = new PostgresLeaseStore(own, options)
    try {
      return await store.acquire(claim(), never).catch((error: unknown) => error)
    } finally {
      await store.close()
      await own.end()
    }
  }

  describe('errors', () => {
    it('a missing table says to call migrate()', async () => {
      for (const options of [{ schema: 'nowhere' }, { table: 'nothing' }]) {
        const error = await failure({}, options)
        expect(error).toBeInstanceOf(LeaseConfigurationError)
        expect(error).toMatchObject({ message: expect.stringContaining('call migrate()'), store: 'postgres' })
      }
    })

    it('a user without rights is not authorised, and reads which rights it needs', async () => {
      await pool.query('create role stranger login')
      const error = await failure({ user: 'stranger' })
      expect(error).toBeInstanceOf(LeaseUnauthorisedError)
      expect(error).toMatchObject({ message: expect.stringContaining('USAGE on the schema') })
    })

    it('these rights are enough', async () => {
      await pool.query('create role app login')
      await pool.query('grant usage on schema leasehold to app')
      await pool.query('grant select, insert, update, delete on all tables in schema leasehold to app')
      expect(await failure({ user: 'app' })).toMatchObject({ granted: true })
      const own = poolTo(server, { user: 'app' })
      const store = new PostgresLeaseStore(own, { listen: false })
      const outcome = await store.acquire(claim(), never)
      if (!outcome.granted) throw new Error('held')
      await store.acquire({ ...claim(), name: outcome.grant.name, queue: true }, never)
      expect(await store.renew(outcome.grant, never)).toEqual({ renewed: true })
      expect(await store.release(outcome.grant, never)).toEqual({ released: true })
      await own.end()
    })

    it('an unknown user or database, and a server that is not there, have errors of their kind', async () => {
      expect(await failure({ user: 'nobody' })).toBeInstanceOf(LeaseUnauthorisedError)
      expect(await failure({ database: 'nothing' })).toBeInstanceOf(LeaseConfigurationError)
      expect(await failure({ port: 1 })).toBeInstanceOf(LeaseUnavailableError)
    })

    it('a read-only server neither grants, nor refuses, nor answers from the past', async () => {
      const own = poolTo(server, { options: '-c default_transaction_read_only=on' })
      const store = new PostgresLeaseStore(own)
      const held = await new PostgresLeaseStore(pool).acquire(claim(), never)
      if (!held.granted) throw new Error('held')
      const { name } = held.grant
      for (const attempt of [
        () => store.acquire({ ...claim(), name }, never),
        () => store.renewMany([held.grant], never),
        () => store.read(name, never),
        () => store.release(held.grant, never),
      ]) {
        await expect(attempt()).rejects.toThrow(/the server is read-only/)
        await expect(attempt()).rejects.toBeInstanceOf(LeaseUnavailableError)
      }
      await own.end()
    })

    it('a statement_timeout of the user is an unknown outcome', async () => {
      const blocker = await pool.connect()
      const store = new PostgresLeaseStore(pool)
      const request = claim()
      await store.acquire(request, never)
      await blocker.query('begin')
      await blocker.query('select from leasehold.leases where name = $1 for update', [request.name])
      const own = poolTo(server, { statement_timeout: 200 })
      const impatient = new PostgresLeaseStore(own)
      await expect(impatient.break(request.name, {}, never)).rejects.toBeInstanceOf(LeaseUnavailableError)
      await blocker.query('rollback')
      blocker.release()
      await own.end()
    })

    it('a value that is no client, and names that need quotes, are wrong', () => {
      for (const client of [undefined, null, {}, 'postgres://localhost', 5]) {
        expect(() => new PostgresLeaseStore(client as unknown as PostgresClient)).toThrow('the client is not supported')
      }
      for (const names of [
        { schema: 'a"b' },
        { table: '1a' },
        { table: '' },
        { table: 'a'.repeat(41) },
        { schema: "a'b" },
      ]) {
        expect(() => new PostgresLeaseStore(pool, names)).toThrow(LeaseConfigurationError)
      }
    })
  })

  describe('migrate', () => {
    it('runs in any number of processes at once, and again', async () => {
      const names = { schema: 'Crowd', table: 'Mixed_case' }
      const pools = Array.from({ length: 12 }, () => poolTo(server, { max: 1 }))
      await Promise.all(pools.map((one) => migrate(one, names)))
      await migrate(pool, names)
      const store = new PostgresLeaseStore(pool, names)
      expect(await store.acquire(claim(), never)).toMatchObject({ granted: true })
      for (const one of pools) await one.end()
    })

    it('keeps leases, and works under every isolation level', async () => {
      for (const level of ['repeatable\\ read', 'serializable']) {
        const schema = `level_${level.slice(0, 4)}`
        const own = poolTo(server, { options: `-c default_transaction_isolation=${level}` })
        await Promise.all([migrate(own, { schema }), migrate(own, { schema }), migrate(own, { schema })])
        const store = new PostgresLeaseStore(own, { schema })
        const request = claim()
        await store.acquire(request, never)
        await migrate(own, { schema })
        expect(await store.read(request.name, never)).toMatchObject({ state: 'leased' })
        await own.end()
      }
    })

    it('its files can be run by another tool, again and again, by a user with a schema of its own', async () => {
      await pool.query('create role tenant login')
      await pool.query('create schema tenant authorization tenant')
      const own = poolTo(server, { user: 'tenant' })
      for (const { sql } of await migrations({ schema: 'tenant' })) {
        await own.query(sql)
        await own.query(sql)
      }
      const versions = (await migrations()).map(({ version }) => ({ version }))
      expect((await own.query('select version from tenant.leases_migrations order by version')).rows).toEqual(versions)
      const store = new PostgresLeaseStore(own, { schema: 'tenant' })
      expect(await store.acquire(claim(), never)).toMatchObject({ granted: true })
      await own.end()
    })

    it('reports a user that may not create anything', async () => {
      await pool.query('create role reader login')
      const own = poolTo(server, { user: 'reader' })
      await expect(migrate(own, { schema: 'forbidden' })).rejects.toBeInstanceOf(LeaseUnauthorisedError)
      await own.end()
    })
  })

  it('clients go on while a later version adds a column and functions', async () => {
    const schema = 'evolving'
    await migrate(pool, { schema })
    const store = new PostgresLeaseStore(pool, { schema })
    const outcome = await store.acquire(claim(), never)
    if (!outcome.granted) throw new Error('held')
    await pool.query('alter table evolving.leases add column region text')
    expect(await store.renew(outcome.grant, never)).toEqual({ renewed: true })
    expect(await store.update(outcome.grant, { at: 'step 2' }, never)).toEqual({ renewed: true })
    expect(await store.read(outcome.grant.name, never)).toMatchObject({ metadata: { at: 'step 2' }, renewals: 2 })
    expect(await store.acquire({ ...claim(), name: outcome.grant.name }, never)).toMatchObject({ granted: false })
    expect(await store.release(outcome.grant, never)).toEqual({ released: true })
    expect(await store.acquire({ ...claim(), name: outcome.grant.name }, never)).toMatchObject({ granted: true })
  })

  it('fencing tokens grow after the row was deleted, and when the clock was behind the last token', async () => {
    const store = new PostgresLeaseStore(pool)
    const request = claim()
    const first = await store.acquire(request, never)
    await pool.query('delete from leasehold.leases where name = $1', [request.name])
    const second = await store.acquire({ ...request, grantId: randomUUID() }, never)
    if (!first.granted || !second.granted) throw new Error('held')
    expect(second.grant.fencingToken).toBeGreaterThan(first.grant.fencingToken)
    const ahead = second.grant.fencingToken + 10n ** 12n
    await pool.query('update leasehold.leases set fencing_token = $2 where name = $1', [request.name, ahead])
    await store.release(second.grant, never)
    expect(await store.acquire({ ...request, grantId: randomUUID() }, never)).toMatchObject({
      grant: { fencingToken: ahead + 1n },
    })
  })

  it('lists a hundred thousand names in pages, and lets others work meanwhile', async () => {
    const names = { schema: 'large', table: 'leases' }
    await migrate(pool, names)
    await pool.query(
      `insert into large.leases (fencing_token, ttl, granted_at, locked_until, state, name, grant_id, owner)
       select n, 1000, now(), '-infinity', 'available', case when n % 2 = 0 then 'even:' else 'odd:' end || n, n::text, 'anna'
       from generate_series(1, 100000) n`,
    )
    const store = new PostgresLeaseStore(pool, names)
    let count = 0
    let others = 0
    let isListing = true
    const working = (async () => {
      while (isListing) {
        await store.read('odd:1', never)
        others += 1
      }
    })()
    const seen = new Set<string>()
    for await (const { name } of store.list('even:', never)) {
      count += 1
      seen.add(name)
      if (!name.startsWith('even:')) throw new Error(name)
    }
    isListing = false
    await working
    expect([count, seen.size]).toEqual([50_000, 50_000])
    expect(others).toBeGreaterThan(50)
  })
})
