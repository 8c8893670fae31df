import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Grant, LeaseUnavailableError, systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { TcpProxy } from '@leasehold/testkit'
import type { PoolClient } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poolTo } from './support/pool-to.js'

const never = new AbortableCall()

/** Milliseconds. */
const LIMIT = 500

describePostgres('the time limit of a call', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start()
    const pool = poolTo(server, { max: 1 })
    await migrate(pool)
    await pool.end()
  })

  afterAll(() => server.stop())

  const claim = (name: string) => ({ name, owner: 'anna', grantId: randomUUID(), ttl: 60_000 })

  async function granted(store: PostgresLeaseStore, name: string = randomUUID()): Promise<Grant> {
    const outcome = await store.acquire(claim(name), never)
    if (!outcome.granted) throw new Error('held')
    return outcome.grant
  }

  /** How a call ends that is aborted after the limit. */
  async function limited(call: (call: AbortableCall) => Promise<unknown>): Promise<unknown> {
    const attempt = new AbortableCall(LIMIT)
    systemClock.schedule(LIMIT, () => attempt.abort(new Error('too late')))
    const begin = systemClock.now()
    const outcome = await call(attempt).catch((error: unknown) => error)
    expect(systemClock.now() - begin).toBeLessThan(LIMIT + 5_000)
    expect(attempt.listeners).toBe(0)
    return outcome
  }

  /** Locks the row of a lease until it is released, as only a foreign program does. */
  async function lockedRow(name: string): Promise<PoolClient & { unlock(): Promise<void> }> {
    const pool = poolTo(server, { max: 1 })
    const client = await pool.connect()
    await client.query('begin')
    await client.query('select from leasehold.leases where name = $1 for update', [name])
    return Object.assign(client, {
      unlock: async () => {
        await client.query('rollback')
        client.release()
        await pool.end()
      },
    })
  }

  describe.concurrent('ends the call', () => {
    it('while the pool is exhausted, and gives back the connection that comes later', async () => {
      const pool = poolTo(server, { max: 1 })
      const store = new PostgresLeaseStore(pool)
      const taken = await pool.connect()
      for (let count = 0; count < 3; count += 1) {
        expect(await limited((call) => store.read('job', call))).toMatchObject({ message: 'too late' })
      }
      // The later attempts use the request of the first.
      expect(pool.waitingCount).toBe(1)
      taken.release()
      await eventually('the connection is free', async () => pool.idleCount === 1 && pool.waitingCount === 0)
      expect(await store.read('job', never)).toBeUndefined()
      await store.close()
      await pool.end()
    })

    it('while its statement hangs, and frees the connection of the pool', async () => {
      const pool = poolTo(server, { max: 1 })
      const store = new PostgresLeaseStore(pool)
      const grant = await granted(store)
      const row = await lockedRow(grant.name)
      expect(await limited((call) => store.release(grant, call))).toMatchObject({ message: 'too late' })
      const begin = systemClock.now()
      expect((await pool.query('select 1 as one')).rows).toEqual([{ one: 1 }])
      expect(systemClock.now() - begin).toBeLessThan(5_000)
      // The statement ends by itself: the server waits for the row for as long as the call.
      await eventually('no statement waits', async () => {
        const waiting = await server.query(`select from pg_stat_activity where wait_event_type = 'Lock'`)
        return waiting.length === 0
      })
      await row.unlock()
      expect(await store.release(grant, never)).toEqual({ released: true })
      await store.close()
      await pool.end()
    })

    it('by postgres.js, and the statement ends by itself', async () => {
      const sql = postgres(server.url, { max: 1 })
      const store = new PostgresLeaseStore(sql)
      const grant = await granted(store)
      const row = await lockedRow(grant.name)
      expect(await limited((call) => store.release(grant, call))).toMatchObject({ message: 'too late' })
      expect(await sql`select 1 as one`).toMatchObject([{ one: 1 }])
      await row.unlock()
      await store.close()
      await sql.end()
    })

    it('by postgres.js, and leaves the answers of other statements on the connection to them', async () => {
      const sql = postgres(server.url, { max: 1 })
      const store = new PostgresLeaseStore(sql)
      await granted(store)
      const slow = sql.unsafe('select pg_sleep(2)').execute()
      const early = new AbortableCall()
      const reading = store.read('job', early).catch((error: unknown) => error)
      // By now the first two are sent, and the server works on the first.
      await sleep(100)
      const later = sql.unsafe('select 42 as number').execute()
      await sleep(100)
      early.abort(new Error('too early'))
      expect(await reading).toMatchObject({ message: 'too early' })
      expect(await later).toMatchObject([{ number: 42 }])
      await slow
      await store.close()
      await sql.end()
    })

    it('while the server is silent, and finds it again', async () => {
      const way = await TcpProxy.to(server.port)
      const own = poolTo(way, { max: 2 })
      const store = new PostgresLeaseStore(own)
      const grant = await granted(store)
      way.blackHole()
      expect(await limited((call) => store.renew(grant, call))).toMatchObject({ message: 'too late' })
      expect(await limited((call) => store.renewMany([grant], call))).toMatchObject({ message: 'too late' })
      way.heal()
      await eventually('the store has noticed', async () => (await store.renew(grant, never)).renewed)
      await store.close()
      void own.end()
      await way.close()
    })
  })

  it('does not keep other leases waiting: one row that hangs takes one statement', async () => {
    const pool = poolTo(server, { max: 4 })
    const store = new PostgresLeaseStore(pool)
    const [stuck, ...free] = (await Promise.all(Array.from({ length: 30 }, () => granted(store)))) as [
      Grant,
      ...Grant[],
    ]
    const row = await lockedRow(stuck.name)
    const call = new AbortableCall()
    const releasing = store.release(stuck, call).catch((error: unknown) => error)
    expect(await Promise.all(free.map((grant) => store.release(grant, never)))).toEqual(
      free.map(() => ({ released: true })),
    )
    call.abort(new Error('given up'))
    expect(await releasing).toMatchObject({ message: 'given up' })
    await row.unlock()
    await store.close()
    await pool.end()
  })

  it('renewMany renews the others of a row that is locked, and reports that one as unknown', async () => {
    const pool = poolTo(server, { max: 2 })
    const store = new PostgresLeaseStore(pool)
    const grants = await Promise.all(Array.from({ length: 20 }, () => granted(store)))
    const gone = { ...(grants[3] as Grant), grantId: 'another' }
    const row = await lockedRow(grants[7]?.name ?? '')
    const outcomes = await store.renewMany([...grants, gone, grants[0] as Grant], never)
    expect(outcomes[7]).toBeInstanceOf(LeaseUnavailableError)
    expect(outcomes[20]).toMatchObject({ renewed: false, reason: 'taken', holder: { owner: 'anna' } })
    expect(outcomes.filter((outcome) => 'renewed' in outcome && outcome.renewed)).toHaveLength(20)
    await row.unlock()
    expect(await store.renewMany(grants, never)).toEqual(grants.map(() => ({ renewed: true })))
    await store.close()
    await pool.end()
  })

  it('gives a single Client one statement at a time: it cannot run two', async () => {
    const pool = poolTo(server, { max: 1 })
    const client = await pool.connect()
    let underWay = 0
    let most = 0
    const store = new PostgresLeaseStore(
      {
        query: async (text: string) => {
          underWay += 1
          most = Math.max(most, underWay)
          try {
            return await client.query(text)
          } finally {
            underWay -= 1
          }
        },
        connect: () => {},
        on: () => {},
        removeListener: () => {},
      },
      { listen: false },
    )
    await Promise.all(Array.from({ length: 200 }, () => granted(store)))
    expect(most).toBe(1)
    await store.close()
    client.release()
    await pool.end()
  })

  it('rejects operations under way, and later ones, when the store is closed', async () => {
    const pool = poolTo(server, { max: 1 })
    const store = new PostgresLeaseStore(pool)
    const taken = await pool.connect()
    const reading = store.read('job', never)
    await Promise.all([expect(reading).rejects.toThrow('is closed'), store.close()])
    await expect(store.read('job', never)).rejects.toThrow(LeaseUnavailableError)
    taken.release()
    await pool.end()
  })
})
