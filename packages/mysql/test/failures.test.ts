import { randomUUID } from 'node:crypto'
import { LeaseConfigurationError, LeaseUnauthorisedError, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { type MysqlClient, MysqlGuard, MysqlLeaseStore, migrate, migrations } from '@leasehold/mysql'
import { eventually } from '@leasehold/testing'
import { describeMysql } from '@leasehold/testing/describe-mysql'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { createConnection, type Pool, type PoolOptions } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claimOf, granted, never } from './support/claims.js'
import { mariadbPoolTo, poolTo } from './support/libraries.js'

describeMysql('a store', (kind) => {
  let server: MysqlServer
  let pool: Pool

  beforeAll(async () => {
    server = await MysqlServer.start(kind)
    pool = poolTo(server)
    await migrate(pool)
    for (const user of ['stranger', 'app', 'reader']) {
      await server.query(`create user '${user}'@'%' identified by 'secret'`)
    }
    await server.query("grant select, insert, update, delete on test.* to 'app'@'%'")
  })

  afterAll(async () => {
    await pool.end()
    await server.stop()
  })

  /** How an acquisition ends over a pool with these settings. */
  async function outcomeOver(options: PoolOptions, names = {}): Promise<unknown> {
    const own = poolTo(server, options)
    const store = new MysqlLeaseStore(own, names)
    try {
      return await store.acquire(claimOf(), never).catch((error: unknown) => error)
    } finally {
      await store.close()
      await own.end()
    }
  }

  describe('that is first used', () => {
    it('creates its tables, in any number of processes at once', async () => {
      const names = { table: 'Crowd' }
      const pools = Array.from({ length: 8 }, () => poolTo(server, { connectionLimit: 2 }))
      const stores = pools.map((one) => new MysqlLeaseStore(one, names))
      const name = 'first'
      const outcomes = await Promise.all(stores.map((store) => store.acquire(claimOf({ name }), never)))
      expect(outcomes.filter((outcome) => outcome.granted)).toHaveLength(1)
      for (const one of pools) await one.end()
    })

    it('by a user that may not create tables, has the statements in its error, which are enough', async () => {
      const names = { table: 'forbidden' }
      const user = { user: 'app', password: 'secret' }
      const error = await outcomeOver(user, names)
      expect(error).toBeInstanceOf(LeaseConfigurationError)
      const { message } = error as Error
      const [, ...statements] = message.split('\n\n')
      expect(statements).toEqual(migrations(names).map(({ sql }) => `${sql};`))
      for (const statement of statements) await server.query(statement)
      expect(await outcomeOver(user, names)).toMatchObject({ granted: true })
    })

    it('over one connection, creates none: that would commit an open transaction', async () => {
      const { host, port, user } = server
      const connection = await createConnection({ host, port, user, database: 'test' })
      const store = new MysqlLeaseStore(connection, { table: 'single' })
      await expect(store.acquire(claimOf(), never)).rejects.toThrow(/create table if not exists `single`/)
      await migrate(connection, { table: 'single' })
      expect(await store.acquire(claimOf(), never)).toMatchObject({ granted: true })
      await connection.end()
    })
  })

  describe('errors', () => {
    it('an unknown user, a wrong password, and missing rights are not authorised', async () => {
      expect(await outcomeOver({ user: 'nobody' })).toBeInstanceOf(LeaseUnauthorisedError)
      expect(await outcomeOver({ user: 'app', password: 'wrong' })).toBeInstanceOf(LeaseUnauthorisedError)
      expect(await outcomeOver({ user: 'stranger', password: 'secret' })).toBeInstanceOf(LeaseUnauthorisedError)
      await server.query("grant select on test.* to 'reader'@'%'")
      const error = await outcomeOver({ user: 'reader', password: 'secret' })
      expect(error).toBeInstanceOf(LeaseUnauthorisedError)
      expect(error).toMatchObject({ message: expect.stringContaining('SELECT, INSERT, UPDATE and DELETE') })
    })

    it('an unknown database, none, and a server that is not there, have errors of their kind', async () => {
      expect(await outcomeOver({ database: 'nothing' })).toBeInstanceOf(LeaseConfigurationError)
      const without = { host: '127.0.0.1', port: server.port, user: 'root' }
      const own = poolTo(server, { ...without, database: '' })
      await expect(new MysqlLeaseStore(own).acquire(claimOf(), never)).rejects.toThrow('name the database')
      await granted(new MysqlLeaseStore(own, { database: 'test' }))
      await own.end()
      const error = await outcomeOver({ port: 1 })
      expect(error).toBeInstanceOf(LeaseUnavailableError)
      expect(error).toMatchObject({ message: expect.stringContaining('check the URL') })
    })

    it('a table of another program is wrong', async () => {
      await server.query('create table foreigners (name int)')
      const error = await outcomeOver({}, { table: 'foreigners' })
      expect(error).toBeInstanceOf(LeaseConfigurationError)
      expect(error).toMatchObject({ message: expect.stringContaining('another table') })
    })

    it('a value that is no client, and names that need quotes, are wrong', () => {
      for (const client of [undefined, null, {}, 'mysql://localhost', 5]) {
        expect(() => new MysqlLeaseStore(client as unknown as MysqlClient)).toThrow('the client is not supported')
      }
      for (const names of [{ table: 'a`b' }, { table: '' }, { table: 'a'.repeat(57) }, { database: 'a b' }]) {
        expect(() => new MysqlLeaseStore(pool, names)).toThrow(LeaseConfigurationError)
      }
    })

    it('credentials that end in the middle are not authorised, and leases go on with new ones', async () => {
      await server.query("create user 'rotating'@'%' identified by 'old'")
      await server.query("grant all on test.* to 'rotating'@'%'")
      const own = poolTo(server, { user: 'rotating', password: 'old', connectionLimit: 2 })
      const store = new MysqlLeaseStore(own)
      const grant = await granted(store)
      await server.query("alter user 'rotating'@'%' identified by 'new'")
      const listed = await server.query('show processlist')
      for (const { Id, User } of listed) if (User === 'rotating') await server.query(`kill ${Id}`)
      await eventually('the password is refused', async () => {
        const error = await store.renew(grant, never).catch((reason: unknown) => reason)
        return error instanceof LeaseUnauthorisedError
      })
      await server.query("alter user 'rotating'@'%' identified by 'old'")
      expect(await store.renew(grant, never)).toEqual({ renewed: true })
      await own.end()
    })
  })

  describe('in sessions with unusual settings', () => {
    const everything = async (client: MysqlClient) => {
      const store = new MysqlLeaseStore(client)
      const others = new MysqlLeaseStore(pool)
      const owner = 'a\\\'b"c`d\n?? :x ä 😀'
      const metadata = { "it's": '\\ " \u0000 ?' }
      const grant = await granted(store, { name: `${randomUUID()} '\\"?`, owner, metadata })
      const read = await others.read(grant.name, never)
      expect(read).toMatchObject({ name: grant.name, owner, metadata, state: 'leased' })
      expect(Math.abs((read?.grantedAt ?? 0) - Number(grant.fencingToken / 1_000n))).toBeLessThan(2)
      expect(read?.remaining).toBeGreaterThan(40_000)
      expect(await others.acquire(claimOf({ name: grant.name }), never)).toMatchObject({ granted: false })
      expect(await store.renew(grant, never)).toEqual({ renewed: true })
      expect(await others.read(grant.name, never)).toMatchObject({ renewals: 1 })
      expect(await store.release(grant, never)).toEqual({ released: true })
      const next = await granted(others, { name: grant.name })
      expect(next.fencingToken).toBeGreaterThan(grant.fencingToken)
      expect(await store.read(grant.name, never)).toMatchObject({ grantId: next.grantId })
      await others.close()
      await store.close()
    }

    const modes = [
      "set sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT,STRICT_ALL_TABLES,NO_ZERO_DATE'",
      "set sql_mode = ''",
      "set time_zone = '+09:30'",
      'set autocommit = 0',
      'set session transaction isolation level serializable',
      'set session transaction isolation level read uncommitted',
      'set names latin1',
    ]

    it.each(modes)('works after %s', async (setting) => {
      const own = poolTo(server)
      own.on('connection', (connection) => void connection.query(setting))
      await everything(own)
      await own.end()
      const mariadb = mariadbPoolTo(server, { initSql: setting })
      await everything(mariadb)
      await mariadb.end()
    })

    it.each<PoolOptions>([
      { rowsAsArray: true },
      { nestTables: true },
      { namedPlaceholders: true },
      { supportBigNumbers: true, bigNumberStrings: true },
      { flags: ['-FOUND_ROWS'] },
      { typeCast: false },
      { timezone: '+05:00', dateStrings: true },
    ])('works with the options %o', async (options) => {
      const own = poolTo(server, options)
      await everything(own)
      await own.end()
    })

    it('an open transaction of a connection is noticed, and nothing is granted in it', async () => {
      const own = poolTo(server, { connectionLimit: 1 })
      const store = new MysqlLeaseStore(own)
      await store.read('x', never)
      const connection = await own.getConnection()
      await connection.query('start transaction')
      connection.release()
      const request = claimOf()
      await expect(store.acquire(request, never)).rejects.toThrow('open transaction')
      expect(await store.read(request.name, never)).toBeUndefined()
      expect(await store.acquire(request, never)).toMatchObject({ granted: true })
      await own.end()
    })
  })

  it('names that differ in trailing spaces, in case or in accents are different, also for a fence', async () => {
    const store = new MysqlLeaseStore(pool)
    const key = randomUUID()
    const names = [key, `${key} `, `${key}  `, `${key}\u0000`, `${key}A`, `${key}a`, `${key}ä`, `${key}Ä`]
    const grants = await Promise.all(names.map((name) => granted(store, { name })))
    expect(new Set(grants.map(({ grantId }) => grantId)).size).toBe(names.length)
    const listed: string[] = []
    for await (const { name } of store.list(key, never)) listed.push(name)
    expect(listed.toSorted()).toEqual(names.toSorted())
    const tx = await pool.getConnection()
    await tx.beginTransaction()
    const guard = new MysqlGuard()
    await guard.transact(`${key} `, 9n, tx)
    await guard.transact(key, 5n, tx)
    await tx.rollback()
    tx.release()
  })

  it('of many claims at the same time, one is granted, again and again', async () => {
    const stores = Array.from({ length: 10 }, () => new MysqlLeaseStore(pool))
    const name = randomUUID()
    let last = 0n
    for (let round = 0; round < 10; round += 1) {
      const outcomes = await Promise.all(stores.map((store) => store.acquire(claimOf({ name }), never)))
      const [grant, ...others] = outcomes.flatMap((outcome) => (outcome.granted ? [outcome.grant] : []))
      expect(others).toEqual([])
      if (grant === undefined) continue
      expect(grant.fencingToken).toBeGreaterThan(last)
      last = grant.fencingToken
      expect(await new MysqlLeaseStore(pool).release(grant, never)).toEqual({ released: true })
    }
    expect(last).toBeGreaterThan(0n)
  })

  it('fencing tokens grow after the row was deleted, and when the clock was behind the last token', async () => {
    const store = new MysqlLeaseStore(pool)
    const request = claimOf({ name: 'deleted' })
    const first = await granted(store, request)
    await pool.query("delete from leasehold_leases where name = 'deleted'")
    const second = await granted(store, { ...request, grantId: randomUUID() })
    expect(second.fencingToken).toBeGreaterThan(first.fencingToken)
    const ahead = second.fencingToken + 10n ** 17n
    await pool.query(`update leasehold_leases set fencing_token = ${ahead} where name = 'deleted'`)
    await store.release(second, never)
    expect((await granted(store, { ...request, grantId: randomUUID() })).fencingToken).toBe(ahead + 1n)
  })

  it('a row that a transaction of a user has locked: the call ends with its limit, and the connection leaves the pool', async () => {
    const blocker = await pool.getConnection()
    const own = poolTo(server, { connectionLimit: 3 })
    const store = new MysqlLeaseStore(own)
    const grant = await granted(store, { name: 'locked' })
    await blocker.query('start transaction')
    await blocker.query("select * from leasehold_leases where name = 'locked' for update")
    const call = new AbortableCall(500)
    const renewing = store.renew(grant, call)
    systemClock.schedule(500, () => call.abort(new Error('too late')))
    await expect(renewing).rejects.toThrow('too late')
    // Others go on.
    await granted(store)
    await blocker.query('rollback')
    blocker.release()
    expect(await store.renew(grant, never)).toEqual({ renewed: true })
    await own.end()
  })

  it('a thousand leases are renewed by few statements, in order, with the ones that ended', async () => {
    const own = poolTo(server)
    const store = new MysqlLeaseStore(own)
    const prefix = randomUUID()
    const grants = await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => granted(store, { name: `${prefix} ${n}` })),
    )
    const questions = async () => Number((await server.query("show global status like 'Com_update'"))[0]?.Value)
    const before = await questions()
    expect(await store.renewMany(grants, never)).toEqual(grants.map(() => ({ renewed: true })))
    expect((await questions()) - before).toBe(4)
    const [released, broken, deleted] = [grants[10], grants[500], grants[999]]
    if (released === undefined || broken === undefined || deleted === undefined) throw new Error('no grants')
    await store.release(released, never)
    await store.break(broken.name, { period: 0 }, never)
    await server.query(`delete from leasehold_leases where name = '${deleted.name}'`)
    const outcomes = await store.renewMany(grants, never)
    expect([outcomes[10], outcomes[500], outcomes[999]]).toMatchObject([
      { renewed: false, reason: 'expired' },
      { renewed: false, reason: 'broken' },
      { renewed: false, reason: 'deleted' },
    ])
    expect(outcomes.filter(({ renewed }) => renewed)).toHaveLength(997)
    await own.end()
  })

  it('waiters of many processes are granted in order, and a release of the same store wakes its waiter at once', async () => {
    const pools = Array.from({ length: 4 }, () => poolTo(server))
    const stores = pools.map((one) => new MysqlLeaseStore(one))
    const name = randomUUID()
    const [first] = stores
    if (first === undefined) throw new Error('no store')
    const held = await granted(first, { name })
    const queue = stores.map((store, place) => ({ store, request: claimOf({ name, owner: `${place}`, queue: true }) }))
    for (const { store, request } of queue)
      expect(await store.acquire(request, never)).toMatchObject({ granted: false })
    expect(await first.read(name, never)).toMatchObject({ waiters: 4 })
    let current = held
    for (const [place, { store, request }] of queue.entries()) {
      await (stores[place] as MysqlLeaseStore).release(current, never)
      for (const later of queue.slice(place + 1)) {
        expect(await later.store.acquire(later.request, never)).toMatchObject({ granted: false })
      }
      const outcome = await store.acquire(request, never)
      if (!outcome.granted) throw new Error('refused')
      current = outcome.grant
    }
    for (const one of pools) await one.end()
  })
})
