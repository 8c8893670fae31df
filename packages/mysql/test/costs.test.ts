import { createLease, systemClock } from '@leasehold/core'
import { MysqlGuard, MysqlLeaseStore, type MysqlPool, migrate } from '@leasehold/mysql'
import { eventually } from '@leasehold/testing'
import { describeMysql } from '@leasehold/testing/describe-mysql'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import type { Pool } from 'mysql2/promise'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claimOf, granted, never } from './support/claims.js'
import { poolTo } from './support/libraries.js'

/** A pool that keeps the statements that are sent over it. */
function counting(pool: Pool): MysqlPool & { readonly statements: string[] } {
  const statements: string[] = []
  const getConnection = async () => {
    const connection = await pool.getConnection()
    return {
      connection: connection.connection,
      query: (sql: string) => {
        statements.push(sql)
        return connection.query(sql)
      },
      release: () => connection.release(),
      destroy: () => connection.destroy(),
    }
  }
  return { statements, getConnection }
}

describeMysql('the server', (kind) => {
  let server: MysqlServer
  let pool: Pool

  beforeAll(async () => {
    server = await MysqlServer.start(kind)
    pool = poolTo(server, { connectionLimit: 2 })
    await migrate(pool)
  })

  afterAll(async () => {
    await pool.end()
    await server.stop()
  })

  it('gets as many statements as the README says', async () => {
    const way = counting(pool)
    const store = new MysqlLeaseStore(way)
    // A new connection is asked once whether it commits.
    await store.read('x', never)
    const costs: Record<string, number> = {}
    const count = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
      const before = way.statements.length
      const outcome = await work()
      costs[what] = way.statements.length - before
      return outcome
    }
    const first = await count('first grant', () => granted(store, { name: 'job' }))
    await count('refused', () => store.acquire(claimOf({ name: 'job' }), never))
    const waiting = claimOf({ name: 'job', queue: true })
    await count('refused, with a place', () => store.acquire(waiting, never))
    await count('heartbeat', () => store.renew(first, never))
    await count('update', () => store.update(first, { a: 'b' }, never))
    await count('read', () => store.read('job', never))
    await count('release', () => store.release(first, never))
    const second = await count('granted waiter', () => store.acquire(waiting, never))
    if (!second.granted) throw new Error('refused')
    const to = { grantId: 'next', owner: 'boris' }
    const third = await count('hand-off', () => store.change(second.grant, to, never))
    if (!third.granted) throw new Error('refused')
    await count('break', () => store.break('job', { period: 0 }, never))
    await count('grant of a free name', () => granted(store, { name: 'job' }))
    await count('withdraw', () => store.withdraw('job', 'nobody', never))
    const many = await Promise.all(Array.from({ length: 250 }, (_, n) => granted(store, { name: `many ${n}` })))
    await count('heartbeats of 250', () => store.renewMany(many, never))
    await count('heartbeats, some ended', () => store.renewMany([...many.slice(0, 9), first], never))
    await count('list of 250', async () => {
      for await (const _ of store.list('many', never));
    })
    expect(costs).toEqual({
      'first grant': 2,
      refused: 1,
      'refused, with a place': 2,
      heartbeat: 1,
      update: 1,
      read: 1,
      release: 1,
      'granted waiter': 3,
      'hand-off': 2,
      break: 1,
      'grant of a free name': 2,
      withdraw: 1,
      'heartbeats of 250': 1,
      'heartbeats, some ended': 2,
      'list of 250': 1,
    })
    const tx = await way.getConnection()
    await tx.query('start transaction')
    const guard = new MysqlGuard()
    const held = await granted(store)
    await count('guard', () => guard.transactUnderLease(held.name, held.fencingToken, tx))
    await count('fence', () => guard.transact('resource', 5n, tx))
    await tx.query('rollback')
    tx.release()
    expect([costs.guard, costs.fence]).toEqual([3, 4])
  })

  it('is not asked for the end of a lease that the same store releases: that wakes its waiter', async () => {
    // Nothing that waits for this clock goes on.
    const clock = { now: () => systemClock.now(), schedule: () => () => {} }
    const store = new MysqlLeaseStore(pool, { clock })
    const grant = await granted(store)
    const waiting = createLease(store, grant.name, { heartbeatTimeout: 600_000 }).acquire({ wait: 60_000 })
    await eventually('it waits', async () => (await store.read(grant.name, never))?.waiters === 1)
    await store.release(grant, never)
    expect(await waiting).toBe(true)
    await store.close()
  })

  describe('is probed', () => {
    const findings = async () => {
      const store = new MysqlLeaseStore(pool)
      return Object.fromEntries((await store.probe(never)).map((finding) => [finding.check, finding]))
    }

    it('for its version, its role, its log, its clock and its cluster', async () => {
      expect(await findings()).toMatchObject({
        version: { result: 'ok' },
        role: { result: 'ok' },
        // The servers of the tests flush once a second.
        durability: { result: 'warning', setting: 'innodb_flush_log_at_trx_commit' },
        replication: { result: 'ok' },
        clock: { result: 'ok' },
      })
      await server.query('set global innodb_flush_log_at_trx_commit = 1')
      expect(await findings()).toMatchObject({ durability: { result: 'ok' } })
      await server.query('set global read_only = 1')
      expect(await findings()).toMatchObject({ role: { result: 'failed' } })
      await server.query('set global read_only = 0')
    })
  })
})
