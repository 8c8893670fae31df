import { randomUUID } from 'node:crypto'
import { createLease, type Grant, systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { migrate, PostgresLeaseStore, type PostgresLeaseStoreOptions } from '@leasehold/postgres'
import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Library, pool as poolOfPg, postgresJs, singleClient } from './support/libraries.js'
import { poolTo } from './support/pool-to.js'

const never = new AbortableCall()

/** Milliseconds. With this ttl the engine polls every 20 s: earlier turns come from the store. */
const TTL = 60_000

/** Within this time a waiter is served, on a busy machine, unless it has to poll. */
const SOON = 10_000

describePostgres('waiting', () => {
  let server: PostgresServer

  beforeAll(async () => {
    server = await PostgresServer.start({ settings: { max_connections: 300 } })
    const pool = poolTo(server)
    await migrate(pool)
    await pool.end()
  })

  afterAll(() => server.stop())

  const claim = (name: string, queue = false) => ({ name, owner: 'anna', grantId: randomUUID(), ttl: TTL, queue })

  async function granted(store: PostgresLeaseStore, name: string): Promise<Grant> {
    const outcome = await store.acquire(claim(name), never)
    if (!outcome.granted) throw new Error('held')
    return outcome.grant
  }

  async function withStores(
    library: Library,
    work: (...stores: [PostgresLeaseStore, PostgresLeaseStore]) => Promise<void>,
    options: PostgresLeaseStoreOptions = {},
  ): Promise<void> {
    const clients = [await library.open(server.url), await library.open(server.url)] as const
    const stores = [
      new PostgresLeaseStore(clients[0].client, options),
      new PostgresLeaseStore(clients[1].client, options),
    ] as const
    try {
      await work(...stores)
    } finally {
      for (const store of stores) await store.close()
      for (const { end } of clients) await end()
    }
  }

  const listeners = () =>
    server.query<{ pid: number }>(`select pid from pg_stat_activity where query ilike 'listen%' or query = 'select 1'`)

  const waitersOf = (name: string) =>
    server.query('select from leasehold.leases_waiters where name = $1 and not watches', [name])

  describe.each([poolOfPg, postgresJs, singleClient])('by $name,', (library) => {
    it('a release notifies the first waiter of another process', async () => {
      await withStores(library, async (one, other) => {
        const name = randomUUID()
        const grant = await granted(one, name)
        const waiting = createLease(other, name, { heartbeatTimeout: TTL }).acquire({ wait: TTL })
        await eventually('it waits', async () => (await waitersOf(name)).length === 1)
        const begin = systemClock.now()
        await one.release(grant, never)
        expect(await waiting).toBe(true)
        expect(systemClock.now() - begin).toBeLessThan(SOON)
      })
    })

    it('the first waiter is granted the name when the lease of the holder expires', async () => {
      await withStores(library, async (one, other) => {
        const name = randomUUID()
        await one.acquire({ ...claim(name), ttl: 1_000 }, never)
        const begin = systemClock.now()
        expect(await createLease(other, name, { heartbeatTimeout: TTL }).acquire({ wait: TTL })).toBe(true)
        expect(systemClock.now() - begin).toBeLessThan(SOON)
      })
    })
  })

  it('polls where notifications are turned off', async () => {
    await withStores(
      poolOfPg,
      async (one, other) => {
        const name = randomUUID()
        const grant = await granted(one, name)
        const leases = [1, 2].map(() => createLease(other, name, { heartbeatTimeout: TTL }))
        const waiting = leases.map((lease) => lease.acquire({ wait: TTL }))
        await eventually('both wait', async () => (await waitersOf(name)).length === 2)
        const begin = systemClock.now()
        await one.release(grant, never)
        const first = await Promise.race(waiting.map(async (grants, place) => [await grants, place] as const))
        expect(first[0]).toBe(true)
        await leases[first[1]]?.release()
        expect(await Promise.all(waiting)).toEqual([true, true])
        expect(systemClock.now() - begin).toBeLessThan(SOON)
      },
      { listen: false },
    )
  })

  it('opens its connection for notifications again when the server has ended it', async () => {
    await withStores(poolOfPg, async (one, other) => {
      const name = randomUUID()
      const grant = await granted(one, name)
      const waiting = createLease(other, name, { heartbeatTimeout: TTL }).acquire({ wait: TTL })
      const pidsBefore = new Set<number>()
      await eventually('it listens', async () => {
        for (const { pid } of await listeners()) pidsBefore.add(pid)
        return pidsBefore.size > 0
      })
      await server.query(`select pg_terminate_backend(pid) from unnest($1::int[]) as pid`, [[...pidsBefore]])
      await eventually('it listens again', async () => (await listeners()).some(({ pid }) => !pidsBefore.has(pid)))
      const begin = systemClock.now()
      await one.release(grant, never)
      expect(await waiting).toBe(true)
      expect(systemClock.now() - begin).toBeLessThan(SOON)
    })
  })

  it('opens one connection for notifications, with the first waiter, and closes it with the store', async () => {
    const pool = poolTo(server, { application_name: 'counted' })
    const store = new PostgresLeaseStore(pool)
    const count = async () =>
      (await server.query(`select from pg_stat_activity where application_name = 'counted' and query ilike 'listen%'`))
        .length
    const names = Array.from({ length: 20 }, () => randomUUID())
    const grants = await Promise.all(names.map((name) => granted(store, name)))
    expect(await count()).toBe(0)
    const leases = names.map((name) => createLease(store, name, { heartbeatTimeout: TTL }))
    const waiting = leases.map((lease) => lease.acquire({ wait: TTL }))
    await eventually('it listens', async () => (await count()) === 1)
    for (const grant of grants) await store.release(grant, never)
    expect(await Promise.all(waiting)).toEqual(names.map(() => true))
    expect(await count()).toBe(1)
    await store.close()
    await pool.end()
    await eventually('it has closed it', async () => (await count()) === 0)
  })

  it('takes as many statements for a turn with many waiters as with few', async () => {
    const pool = poolTo(server)
    const store = new PostgresLeaseStore(pool, { listen: false })
    const name = randomUUID()
    const statementsOfATurn = async (waiters: number) => {
      let grant = await granted(store, name)
      const claims = Array.from({ length: waiters }, () => claim(name, true))
      for (const one of claims.slice(0, 3)) await store.acquire(one, never)
      await Promise.all(claims.slice(3).map((one) => store.acquire(one, never)))
      const counter = countingPool(pool)
      const counted = new PostgresLeaseStore(counter.pool, { listen: false })
      for (const one of claims.slice(0, 3)) {
        await counted.release(grant, never)
        const outcome = await counted.acquire(one, never)
        if (!outcome.granted) throw new Error('it was not its turn')
        grant = outcome.grant
      }
      await Promise.all(claims.slice(3).map((one) => store.withdraw(name, one.grantId, never)))
      await store.release(grant, never)
      await counted.close()
      return counter.count()
    }
    expect(await statementsOfATurn(4)).toBe(6)
    expect(await statementsOfATurn(300)).toBe(6)
    await store.close()
    await pool.end()
  })

  it('never scans the queue, also where one name has nearly all waiters', async () => {
    const pool = poolTo(server, { max: 1 })
    const store = new PostgresLeaseStore(pool, { listen: false })
    await server.query(`insert into leasehold.leases_waiters (kept_until, name, grant_id, channel)
      select clock_timestamp() + interval '1 hour', 'crowded', 'g' || n, 'none' from generate_series(1, 5000) n`)
    await server.query('analyze leasehold.leases_waiters')
    const scans = async () => {
      await server.query('select pg_stat_clear_snapshot()')
      const [row] = await server.query<{ count: string }>(
        `select seq_scan as count from pg_stat_all_tables where relid = 'leasehold.leases_waiters'::regclass`,
      )
      return Number(row?.count)
    }
    await pool.query('select pg_stat_force_next_flush()')
    const before = await scans()
    for (let count = 0; count < 20; count += 1) {
      const name = randomUUID()
      await store.release(await granted(store, name), never)
      await store.withdraw(name, 'nobody', never)
    }
    await pool.query('select pg_stat_force_next_flush()')
    expect(await scans()).toBe(before)
    await server.query(`delete from leasehold.leases_waiters where name = 'crowded'`)
    await store.close()
    await pool.end()
  })

  it('removes the places of dead waiters that are behind a living one', async () => {
    const pool = poolTo(server)
    const store = new PostgresLeaseStore(pool, { listen: false })
    const name = randomUUID()
    await granted(store, name)
    const alive = claim(name, true)
    await store.acquire(alive, never)
    for (let count = 0; count < 200; count += 1) await store.acquire({ ...claim(name, true), ttl: 1 }, never)
    await store.acquire(alive, never)
    expect((await waitersOf(name)).length).toBeLessThan(70)
    await store.close()
    await pool.end()
  })
})

/** A pool that counts the statements of its clients. */
function countingPool(pool: Pool): { pool: Pool; count: () => number } {
  let count = 0
  const counting = new Proxy(pool, {
    get(target, key) {
      if (key !== 'connect') return Reflect.get(target, key)
      return (callback: Parameters<Pool['connect']>[0]) => {
        count += 1
        return target.connect(callback)
      }
    },
  })
  return { pool: counting, count: () => count }
}
