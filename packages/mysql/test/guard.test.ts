import { setTimeout as sleep } from 'node:timers/promises'
import { createLease, type Grant, LeaseConfigurationError, LeaseLostError, systemClock } from '@leasehold/core'
import { MysqlGuard, MysqlLeaseStore, migrate, type Transaction } from '@leasehold/mysql'
import { eventually } from '@leasehold/testing'
import { describeMysql } from '@leasehold/testing/describe-mysql'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import { Writer } from '@leasehold/testing/writer'
import type { Pool, PoolConnection } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claimOf, granted, never } from './support/claims.js'
import { mariadbPoolTo, poolTo } from './support/libraries.js'

/** It stops inside its transaction. */
const PROGRAM = new URL('./support/stopped-writer.ts', import.meta.url)

const guard = new MysqlGuard()

const underLease = (tx: Transaction, { name, fencingToken }: Pick<Grant, 'name' | 'fencingToken'>) =>
  guard.transactUnderLease(name, fencingToken, tx)

describeMysql('the guard', (kind) => {
  let server: MysqlServer
  let pool: Pool
  let store: MysqlLeaseStore

  beforeAll(async () => {
    server = await MysqlServer.start(kind, { settings: { 'innodb-lock-wait-timeout': 10 } })
    pool = poolTo(server, { connectionLimit: 40 })
    await migrate(pool)
    store = new MysqlLeaseStore(pool)
  })

  afterAll(async () => {
    await store.close()
    await pool.end()
    await server.stop()
  })

  const claim = (name: string) => store.acquire(claimOf({ name, owner: 'boris' }), never)

  async function begun(isolation = 'repeatable read'): Promise<PoolConnection> {
    const tx = await pool.getConnection()
    await tx.query(`set transaction isolation level ${isolation}`)
    await tx.query('start transaction')
    return tx
  }

  async function ended(tx: PoolConnection, how: 'commit' | 'rollback' = 'commit'): Promise<void> {
    await tx.query(how)
    tx.release()
  }

  async function took<T>(work: Promise<T>): Promise<{ outcome: T; took: number }> {
    const begin = systemClock.now()
    return { outcome: await work, took: systemClock.now() - begin }
  }

  describe.concurrent('of a transaction', () => {
    it('passes for a lease that is held', async () => {
      const lease = createLease(store, claimOf().name)
      const { name } = lease.settings
      await lease.acquire()
      const tx = await begun()
      await guard.transactUnderLease(name, lease.fencingToken, tx)
      await guard.transactUnderLease(name, String(lease.fencingToken), async (sql) => (await tx.query(sql))[0])
      await ended(tx)
      await lease.release()
      await expect(guard.transactUnderLease(name, lease.fencingToken, tx)).rejects.toThrow(LeaseLostError)
    })

    it('passes with a raised token and no longer with the earlier one; a raise does not wait for it', async () => {
      const grant = await granted(store)
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
      const released = await granted(store)
      await store.release(released, never)
      const broken = await granted(store)
      await store.break(broken.name, { period: 0 }, never)
      const breaking = await granted(store)
      await store.break(breaking.name, { period: 50_000 }, never)
      const expired = await granted(store, { ttl: 20 })
      const taken = await granted(store, { ttl: 20 })
      await sleep(50)
      expect(await claim(taken.name)).toMatchObject({ granted: true })
      const held = await granted(store)
      const other = { ...held, fencingToken: held.fencingToken + 1n }
      for (const grant of [released, broken, breaking, expired, taken, other, { ...held, name: 'unknown' }]) {
        const tx = await begun()
        const error = await underLease(tx, grant).catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(LeaseLostError)
        expect(error).toMatchObject({ leaseName: grant.name, store: 'mysql' })
        await ended(tx, 'rollback')
      }
    })

    it.each(['read uncommitted', 'read committed', 'repeatable read', 'serializable'])(
      'keeps the name from others until it ends, also after an expiry, and refuses them at once, under %s',
      async (isolation) => {
        const tx = await begun(isolation)
        const grant = await granted(store, { ttl: 2_000 })
        await underLease(tx, grant)
        await eventually('it has expired', async () => (await store.read(grant.name, never))?.state === 'expired')
        const refused = await took(claim(grant.name))
        expect(refused.outcome).toMatchObject({ granted: false, holder: { owner: 'anna', state: 'leased' } })
        expect(refused.took).toBeLessThan(5_000)
        await ended(tx)
        expect(await claim(grant.name)).toMatchObject({ granted: true })
      },
    )

    it.each(['read committed', 'repeatable read'])('does not hold up heartbeats, under %s', async (isolation) => {
      const grant = await granted(store)
      const other = await granted(store)
      const tx = await begun(isolation)
      await underLease(tx, grant)
      const beats = await took(
        (async () => {
          for (let beat = 0; beat < 20; beat += 1) {
            expect(await store.renewMany([grant, other], never)).toEqual([{ renewed: true }, { renewed: true }])
          }
          await store.update(grant, { page: '7' }, never)
        })(),
      )
      expect(beats.took).toBeLessThan(10_000)
      await underLease(tx, grant)
      await ended(tx)
    })

    it('keeps the name from others after a release or a break, which do not wait for it', async () => {
      for (const end of [
        (grant: Grant) => store.release(grant, never),
        (grant: Grant) => store.break(grant.name, { period: 0 }, never),
      ]) {
        const grant = await granted(store)
        const tx = await begun()
        await underLease(tx, grant)
        expect((await took<unknown>(end(grant))).took).toBeLessThan(5_000)
        expect(await claim(grant.name)).toMatchObject({ granted: false })
        await ended(tx)
        expect(await claim(grant.name)).toMatchObject({ granted: true })
      }
    })

    it('does not hold up the first grants of other names', async () => {
      const tx = await begun()
      const grant = await granted(store, { name: 'neighbours m' })
      await underLease(tx, grant)
      await expect(underLease(tx, { name: 'neighbours missing', fencingToken: 7n })).rejects.toThrow(LeaseLostError)
      const others = ['neighbours l', 'neighbours ma', 'neighbours n', 'neighbours missing']
      const work = await took(Promise.all(others.map((name) => granted(store, { name }))))
      expect(work.took).toBeLessThan(5_000)
      await ended(tx)
    })

    it('rejects a lease that another got after the transaction began, which still sees the past', async () => {
      const grant = await granted(store)
      const tx = await begun()
      await tx.query('select count(*) from leasehold_leases')
      await store.release(grant, never)
      expect(await claim(grant.name)).toMatchObject({ granted: true })
      await expect(underLease(tx, grant)).rejects.toThrow(LeaseLostError)
      await ended(tx, 'rollback')
    })

    it('holds up a hand-off, which goes on when it has ended', async () => {
      const grant = await granted(store)
      const tx = await begun()
      await underLease(tx, grant)
      const to = { grantId: claimOf().grantId, owner: 'boris' }
      let isDone = false
      const changing = store.change(grant, to, never).finally(() => {
        isDone = true
      })
      await sleep(300)
      expect(isDone).toBe(false)
      await ended(tx)
      expect(await changing).toMatchObject({ granted: true, grant: { grantId: to.grantId } })
    })

    it('lets a waiter in soon after it has ended', async () => {
      const grant = await granted(store)
      const tx = await begun()
      await underLease(tx, grant)
      const waiting = createLease(store, grant.name).acquire({ wait: 60_000 })
      await eventually('it waits', async () => (await store.read(grant.name, never))?.waiters === 1)
      await store.release(grant, never)
      await sleep(300)
      expect((await store.read(grant.name, never))?.state).toBe('available')
      await ended(tx)
      expect((await took(waiting)).took).toBeLessThan(10_000)
      expect(await waiting).toBe(true)
    })

    it('in the outermost transaction, outlives the rollback to a savepoint', async () => {
      const grant = await granted(store)
      const tx = await begun()
      await underLease(tx, grant)
      await tx.query('savepoint nested')
      await underLease(tx, grant)
      await tx.query('rollback to savepoint nested')
      await store.release(grant, never)
      expect(await claim(grant.name)).toMatchObject({ granted: false })
      await ended(tx)
    })

    it('is refused outside a transaction, where it would guard nothing', async () => {
      const grant = await granted(store)
      const connection = await pool.getConnection()
      await expect(underLease(connection, grant)).rejects.toThrow('was not called within a transaction')
      await expect(guard.transact('nothing', 5n, connection)).rejects.toThrow(LeaseConfigurationError)
      connection.release()
      for (const wrong of [pool, undefined, {}, 'tx']) {
        await expect(underLease(wrong as unknown as Transaction, grant)).rejects.toThrow('this is no transaction')
      }
    })

    it('accepts a function that prepares each statement, as Prisma does, also with the errors of Prisma', async () => {
      const grant = await granted(store)
      const tx = await begun()
      const wrapped = (error: { errno: number; message: string }) => {
        const cause = { originalCode: String(error.errno), originalMessage: error.message }
        return Object.assign(new Error(error.message), { code: 'P2010', meta: { driverAdapterError: { cause } } })
      }
      const prepared = async (sql: string) => {
        const [rows] = await tx.execute(sql).catch((error) => Promise.reject(wrapped(error)))
        return Array.isArray(rows) ? rows : []
      }
      await guard.transactUnderLease(grant.name, grant.fencingToken, prepared)
      await guard.transact('prepared', 7n, prepared)
      await expect(guard.transact('prepared', 6n, prepared)).rejects.toThrow(LeaseLostError)
      await store.release(grant, never)
      expect(await claim(grant.name)).toMatchObject({ granted: false })
      await ended(tx, 'rollback')
    })

    it('accepts a transaction of mariadb', async () => {
      const grant = await granted(store)
      const mariadb = mariadbPoolTo(server)
      const tx = await mariadb.getConnection()
      await tx.beginTransaction()
      await underLease(tx, grant)
      await store.release(grant, never)
      expect(await claim(grant.name)).toMatchObject({ granted: false })
      await tx.commit()
      await tx.release()
      expect(await claim(grant.name)).toMatchObject({ granted: true })
      await mariadb.end()
    })
  })

  it('in a process that was stopped beyond its ttl: nobody else is granted the name before its commit or its death', async () => {
    await pool.query('create table writes (owner text)')
    const [writer, dying] = await Promise.all([
      Writer.start(PROGRAM, [server.port, 'job', 3_000]),
      Writer.start(PROGRAM, [server.port, 'other', 3_000]),
    ])
    try {
      writer.stop()
      dying.stop()
      const isExpired = async (name: string) => (await store.read(name, never))?.state === 'expired'
      await eventually('the leases have expired', async () => (await isExpired('job')) && (await isExpired('other')))
      for (let attempt = 0; attempt < 3; attempt += 1) expect(await claim('job')).toMatchObject({ granted: false })
      expect(await writer.commit()).toBe('committed')
      expect(await claim('job')).toMatchObject({ granted: true })
      await dying.kill()
      await eventually('another is granted the name', async () => (await claim('other')).granted)
      expect(await server.query('select * from writes')).toHaveLength(1)
    } finally {
      await writer.kill()
      await dying.kill()
    }
  })

  describe('of rows', () => {
    it('raises the token in the rows, and rejects an older one', async () => {
      await pool.query('create table `the accounts` (id int primary key, kind varchar(9), `the token` bigint)')
      await pool.query("insert into `the accounts` values (1, 'a', null), (2, 'a', 5), (3, null, 9)")
      const column = 'the token'
      const fenced = async (token: bigint, where: Record<string, string | number | null>, table = '`the accounts`') => {
        const tx = await begun()
        try {
          const count = await guard.transactRows(table, token, tx, { where, column })
          await ended(tx)
          return count
        } catch (error) {
          await ended(tx, 'rollback')
          return error
        }
      }
      expect(await fenced(7n, { kind: 'a' })).toBe(2)
      expect(await fenced(6n, { id: 1 })).toBeInstanceOf(LeaseLostError)
      expect(await fenced(8n, { kind: null })).toBeInstanceOf(LeaseLostError)
      expect(await fenced(8n, { id: 4 })).toBe(0)
      expect(await fenced(8n, { id: 2, kind: 'a' }, 'test.`the accounts`')).toBe(1)
      const [rows] = await pool.query('select `the token` as token from `the accounts` order by id')
      expect(rows).toEqual([{ token: 7 }, { token: 8 }, { token: 9 }])
      expect(await fenced(8n, {})).toBeInstanceOf(LeaseConfigurationError)
      expect(await fenced(8n, { id: 1 }, 'accounts; drop table x')).toBeInstanceOf(LeaseConfigurationError)
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
