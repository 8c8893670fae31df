import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Clock,
  createLease,
  type Grant,
  LeaseConfigurationError,
  LeaseLostError,
  systemClock,
} from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { migrate, PostgresGuard, PostgresLeaseStore, type Transaction } from '@leasehold/postgres'
import { eventually } from '@leasehold/testing'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Writer } from '@leasehold/testing/writer'
import type { Pool, PoolClient } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poolTo } from './support/pool-to.js'
import { underLease } from './support/under-lease.js'

const never = new AbortableCall()

/** It stops inside its transaction. */
const PROGRAM = new URL('./support/stopped-writer.ts', import.meta.url)

const guard = new PostgresGuard()

const ignore = (): void => {}

describePostgres('the guard', () => {
  let server: PostgresServer
  let pool: Pool
  let store: PostgresLeaseStore

  beforeAll(async () => {
    server = await PostgresServer.start()
    pool = poolTo(server, { max: 60 })
    await migrate(pool)
    store = new PostgresLeaseStore(pool)
  })

  afterAll(async () => {
    await store.close()
    await pool.end()
    await server.stop()
  })

  async function granted(name: string, ttl = 60_000): Promise<Grant> {
    const outcome = await store.acquire({ name, owner: 'anna', grantId: randomUUID(), ttl }, never)
    if (!outcome.granted) throw new Error(`held by ${outcome.holder?.owner}`)
    return outcome.grant
  }

  const claim = (name: string) =>
    store.acquire({ name, owner: 'boris', grantId: randomUUID(), ttl: 60_000 }, new AbortableCall())

  async function begun(isolation = 'read committed'): Promise<PoolClient> {
    const client = await pool.connect()
    // Once for each connection, however often the pool lends it.
    client.removeListener('error', ignore).on('error', ignore)
    await client.query(`begin isolation level ${isolation}`)
    return client
  }

  async function ended(client: PoolClient, how: 'commit' | 'rollback' = 'commit'): Promise<void> {
    await client.query(how)
    client.release()
  }

  async function took<T>(work: Promise<T>): Promise<{ outcome: T; took: number }> {
    const begin = systemClock.now()
    return { outcome: await work, took: systemClock.now() - begin }
  }

  describe.concurrent('of a transaction', () => {
    it('passes for a lease that is held', async () => {
      const lease = createLease(store, randomUUID())
      const { name } = lease.settings
      await lease.acquire()
      const tx = await begun()
      await guard.transactUnderLease(name, lease.fencingToken, tx)
      await guard.transactUnderLease(name, String(lease.fencingToken), async (sql) => (await tx.query(sql)).rows)
      await ended(tx)
      await lease.release()
      await expect(guard.transactUnderLease(name, lease.fencingToken, tx)).rejects.toThrow(LeaseLostError)
    })

    it('passes with a raised token and no longer with the earlier one; a raise does not wait for it', async () => {
      const grant = await granted(randomUUID())
      const earlier = await begun()
      await underLease(earlier, grant)
      const raised = { ...grant, fencingToken: grant.fencingToken + 10n ** 15n }
      expect(await store.raiseToken(grant, raised.fencingToken, never)).toEqual({ renewed: true })
      // The transaction under the earlier token still keeps the name.
      await store.release(raised, never)
      expect(await claim(grant.name)).toMatchObject({ granted: false })
      await ended(earlier)
      const next = await claim(grant.name)
      if (!next.granted) throw new Error('refused')
      expect(next.grant.fencingToken).toBe(raised.fencingToken + 1n)
      const last = 2n ** 63n - 2n
      expect(await store.raiseToken(next.grant, last, never)).toEqual({ renewed: true })
      const tx = await begun()
      await underLease(tx, { ...next.grant, fencingToken: last })
      await expect(underLease(tx, next.grant)).rejects.toBeInstanceOf(LeaseLostError)
      await ended(tx, 'rollback')
    })

    it('rejects a lease that has expired, was released, broken or taken, and every other token', async () => {
      const released = await granted(randomUUID())
      await store.release(released, never)
      const broken = await granted(randomUUID())
      await store.break(broken.name, { period: 0 }, never)
      const breaking = await granted(randomUUID())
      await store.break(breaking.name, { period: 50_000 }, never)
      const expired = await granted(randomUUID(), 20)
      const taken = await granted(randomUUID(), 20)
      await sleep(50)
      expect(await claim(taken.name)).toMatchObject({ granted: true })
      const held = await granted(randomUUID())
      const other = { ...held, fencingToken: held.fencingToken + 1n }
      for (const grant of [released, broken, breaking, expired, taken, other, { ...held, name: 'unknown' }]) {
        const tx = await begun()
        const error = await underLease(tx, grant).catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(LeaseLostError)
        expect(error).toMatchObject({ leaseName: grant.name, store: 'postgres' })
        await ended(tx, 'rollback')
      }
    })

    it('refuses a challenger at once, until the transaction has ended', async () => {
      const tx = await begun()
      const grant = await granted(randomUUID(), 3_000)
      await underLease(tx, grant)
      await eventually('it has expired', async () => (await store.read(grant.name, never))?.state === 'expired')
      const refused = await took(claim(grant.name))
      expect(refused.outcome).toMatchObject({ granted: false, holder: { owner: 'anna', state: 'leased' } })
      expect(refused.took).toBeLessThan(5_000)
      await ended(tx)
      expect(await claim(grant.name)).toMatchObject({ granted: true })
    })

    it.each(['read committed', 'repeatable read', 'serializable'])(
      'does not hold up heartbeats, under %s',
      async (isolation) => {
        const grant = await granted(randomUUID())
        const tx = await begun(isolation)
        await underLease(tx, grant)
        for (let beat = 0; beat < 20; beat += 1) expect(await store.renew(grant, never)).toEqual({ renewed: true })
        await underLease(tx, grant).catch((error: unknown) => {
          // The row has changed since the transaction began: it has to be repeated.
          expect(isolation).not.toBe('read committed')
          expect(error).toMatchObject({ code: '40001' })
        })
        await ended(tx, 'rollback')
      },
    )

    it('keeps the name from others after a release or a break, which do not wait for it', async () => {
      for (const end of [
        (grant: Grant) => store.release(grant, never),
        (grant: Grant) => store.break(grant.name, { period: 0 }, never),
      ]) {
        const grant = await granted(randomUUID())
        const tx = await begun()
        await underLease(tx, grant)
        expect((await took<unknown>(end(grant))).took).toBeLessThan(5_000)
        expect(await claim(grant.name)).toMatchObject({ granted: false })
        await ended(tx)
        expect(await claim(grant.name)).toMatchObject({ granted: true })
      }
    })

    it('lets the first waiter ask again every quarter of a second, until it has ended', async () => {
      const pauses: number[] = []
      const schedule: Clock['schedule'] = (delay, task) => {
        pauses.push(delay)
        return systemClock.schedule(delay, task)
      }
      const waiters = new PostgresLeaseStore(pool, { clock: { now: () => systemClock.now(), schedule } })
      const grant = await granted(randomUUID())
      const tx = await begun()
      await underLease(tx, grant)
      const waiting = createLease(waiters, grant.name, { heartbeatTimeout: 60_000 }).acquire({ wait: 60_000 })
      await eventually('it listens and waits', async () => {
        const places = await server.query('select from leasehold.leases_waiters where name = $1', [grant.name])
        return places.length === 1 && pauses.includes(15_000)
      })
      const short = () => pauses.filter((pause) => pause < 500)
      await store.release(grant, never)
      await eventually('it has asked several times', async () => short().length >= 8)
      await ended(tx)
      expect(await waiting).toBe(true)
      expect(short().slice(0, 8)).toEqual([22, 42, 82, 162, 252, 252, 252, 252])
      await waiters.close()
    })

    it('holds up a hand-off, which ends with its time limit', async () => {
      const grant = await granted(randomUUID())
      const tx = await begun()
      await underLease(tx, grant)
      const call = new AbortableCall(500)
      const to = { grantId: randomUUID(), owner: 'boris' }
      const changing = store.change(grant, to, call)
      await sleep(100)
      call.abort(new Error('too late'))
      await expect(changing).rejects.toThrow('too late')
      const later = store.change(grant, to, never)
      await sleep(100)
      await ended(tx)
      expect(await later).toMatchObject({ granted: true, grant: { grantId: to.grantId } })
    })

    it('grants a waiter the name soon after the transaction has ended', async () => {
      const name = randomUUID()
      const grant = await granted(name)
      const tx = await begun()
      await underLease(tx, grant)
      const waiter = createLease(store, name)
      let isGranted = false
      const waiting = waiter.acquire({ wait: 60_000 }).then((outcome) => {
        isGranted = true
        return outcome
      })
      await eventually('it waits', async () => {
        const rows = await server.query('select from leasehold.leases_waiters where name = $1', [name])
        return rows.length === 1
      })
      await store.release(grant, never)
      await sleep(300)
      expect(isGranted).toBe(false)
      await ended(tx)
      expect((await took(waiting)).took).toBeLessThan(10_000)
      expect(await waiting).toBe(true)
      await waiter.release()
    })

    it('is refused outside a transaction, where it would guard nothing', async () => {
      const grant = await granted(randomUUID())
      const client = await pool.connect()
      await expect(underLease(client, grant)).rejects.toThrow(LeaseConfigurationError)
      client.release()
      const sql = postgres(server.url)
      for (const wrong of [pool, sql, undefined, {}, 'tx']) {
        await expect(underLease(wrong as unknown as Transaction, grant)).rejects.toThrow('this is no transaction')
      }
      await sql.end()
    })

    it('accepts a transaction of postgres.js', async () => {
      const grant = await granted(randomUUID())
      const sql = postgres(server.url)
      await sql.begin(async (tx) => {
        await underLease(tx, grant)
        expect(await claim(grant.name)).toMatchObject({ granted: false })
      })
      await sql.end()
    })

    it('names its tables, and rejects a lease of other tables', async () => {
      const names = { schema: 'other', table: 'claims' }
      await migrate(pool, names)
      const others = new PostgresLeaseStore(pool, names)
      const outcome = await others.acquire({ name: 'job', owner: 'anna', grantId: randomUUID(), ttl: 60_000 }, never)
      if (!outcome.granted) throw new Error('held')
      const tx = await begun()
      await underLease(tx, outcome.grant, names)
      await expect(underLease(tx, outcome.grant)).rejects.toThrow(LeaseLostError)
      await ended(tx, 'rollback')
      await others.close()
    })
  })

  describe.concurrent('in a process that was stopped within its transaction, beyond its ttl,', () => {
    const ttl = 4_000

    async function stopped(
      act: (writer: Writer, schema: string, others: PostgresLeaseStore) => Promise<void>,
      idle = '',
    ) {
      const schema = `s${randomUUID().replaceAll('-', '')}`
      await migrate(pool, { schema })
      await pool.query(`create table ${schema}.writes (owner text, at timestamptz default clock_timestamp())`)
      const others = new PostgresLeaseStore(pool, { schema })
      const writer = await Writer.start(PROGRAM, [server.url, schema, ttl, idle])
      try {
        writer.stop()
        await eventually('the lease has expired', async () => (await others.read('job', never))?.state === 'expired')
        await act(writer, schema, others)
      } finally {
        await writer.kill()
        await others.close()
      }
    }

    const writesIn = async (schema: string) => (await server.query(`select from ${schema}.writes`)).length

    const ask = (others: PostgresLeaseStore) =>
      others.acquire({ name: 'job', owner: 'boris', grantId: randomUUID(), ttl: 60_000 }, never)

    it('nobody else is granted the name before its commit', async () => {
      await stopped(async (writer, schema, others) => {
        for (let attempt = 0; attempt < 5; attempt += 1) expect(await ask(others)).toMatchObject({ granted: false })
        expect(await writesIn(schema)).toBe(0)
        expect(await writer.commit()).toBe('committed')
        expect(await writesIn(schema)).toBe(1)
        expect(await ask(others)).toMatchObject({ granted: true })
      })
    })

    it('its death ends the transaction, and then another is granted the name', async () => {
      await stopped(async (writer, schema, others) => {
        expect(await ask(others)).toMatchObject({ granted: false })
        await writer.kill()
        await eventually('another is granted the name', async () => (await ask(others)).granted)
        expect(await writesIn(schema)).toBe(0)
      })
    })

    it('an idleLimit ends the transaction, another is granted the name, and the commit fails', async () => {
      await stopped(async (writer, schema, others) => {
        await eventually('another is granted the name', async () => (await ask(others)).granted)
        expect(await writer.commit()).toBe('failed')
        expect(await writesIn(schema)).toBe(0)
      }, '1000')
    })
  })

  describe('as functions of SQL', () => {
    it('the guard and the fences raise errors with a code of their own', async () => {
      const { name, fencingToken } = await granted(randomUUID())
      const raised = (sql: string, values: unknown[]) => pool.query(sql, values).catch((error: unknown) => error)
      expect(await raised('select leasehold.leases_guard($1, $2)', [name, fencingToken])).toMatchObject({ rowCount: 1 })
      expect(await raised('select leasehold.leases_guard($1, $2)', [name, 1])).toMatchObject({ code: 'LH001' })
      expect(await raised('select leasehold.leases_fence($1, $2)', ['r', 2])).toMatchObject({ rowCount: 1 })
      expect(await raised('select leasehold.leases_fence($1, $2)', ['r', 1])).toMatchObject({ code: 'LH002' })
    })
  })

  describe('of rows', () => {
    it('raises the token in the rows, and rejects an older one', async () => {
      await pool.query('create table "Accounts" (id int primary key, kind text, "the token" bigint)')
      await pool.query(`insert into "Accounts" values (1, 'a', null), (2, 'a', 5), (3, null, 9)`)
      const column = 'the token'
      const fenced = async (token: bigint, where: Record<string, string | number | null>) => {
        const tx = await begun()
        try {
          const count = await guard.transactRows('"Accounts"', token, tx, { where, column })
          await tx.query('commit')
          return count
        } catch (error) {
          await tx.query('rollback')
          return error
        } finally {
          tx.release()
        }
      }
      expect(await fenced(7n, { kind: 'a' })).toBe(2)
      expect(await fenced(6n, { id: 1 })).toBeInstanceOf(LeaseLostError)
      expect(await fenced(8n, { kind: null })).toBeInstanceOf(LeaseLostError)
      expect(await fenced(8n, { id: 4 })).toBe(0)
      expect(await fenced(8n, { id: 2, kind: 'a' })).toBe(1)
      const { rows } = await pool.query('select id, "the token" as token from "Accounts" order by id')
      expect(rows.map(({ token }) => token)).toEqual(['7', '8', '9'])
      expect(await fenced(8n, {})).toBeInstanceOf(LeaseConfigurationError)
    })

    it('the first writer under the larger token makes the other one wait, and then rejects it', async () => {
      const [late, next] = [await begun(), await begun()]
      await guard.transact('both', 9n, next)
      const writing = guard.transact('both', 8n, late).catch((error: unknown) => error)
      await sleep(100)
      await ended(next)
      expect(await writing).toBeInstanceOf(LeaseLostError)
      await ended(late, 'rollback')
    })
  })
})
