import { randomUUID } from 'node:crypto'
import { type Grant, LeaseConfigurationError } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { migrate, PostgresGuard, PostgresLeaseStore, type Transaction } from '@leasehold/postgres'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { never } from '@leasehold/testing/job-claims'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { sql } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import type { Pool, PoolClient } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { poolTo } from './support/pool-to.js'
import { underLease } from './support/under-lease.js'

const guard = new PostgresGuard()

const OUTERMOST = /outermost transaction/

describePostgres('under a savepoint, whose rollback frees the locks that were taken since,', () => {
  let server: PostgresServer
  let pool: Pool
  let store: PostgresLeaseStore

  beforeAll(async () => {
    server = await PostgresServer.start()
    pool = poolTo(server, { max: 20 })
    await migrate(pool)
    await pool.query('create table accounts (id int, region text, fencing_token bigint)')
    await pool.query(`create table parted (id int, fencing_token bigint) partition by range (id)`)
    await pool.query(`create table part partition of parted for values from (0) to (1000000)`)
    await pool.query(`create view viewed as select * from accounts where region = 'viewed'`)
    store = new PostgresLeaseStore(pool)
  })

  afterAll(async () => {
    await store.close()
    await pool.end()
    await server.stop()
  })

  async function granted(name: string = randomUUID(), ttl = 60_000): Promise<Grant> {
    const outcome = await store.acquire({ name, owner: 'anna', grantId: randomUUID(), ttl }, never)
    if (!outcome.granted) throw new Error('held')
    return outcome.grant
  }

  const challenge = async ({ name }: Grant): Promise<boolean> => {
    const request = { name, owner: 'boris', grantId: randomUUID(), ttl: 60_000 }
    return (await store.acquire(request, new AbortableCall())).granted
  }

  async function inTransaction(act: (tx: PoolClient) => Promise<void>, isolation = 'read committed'): Promise<void> {
    const tx = await pool.connect()
    try {
      await tx.query(`begin isolation level ${isolation}`)
      await act(tx)
    } finally {
      await tx.query('rollback')
      tx.release()
    }
  }

  async function refused(tx: Transaction, protect: (tx: Transaction) => Promise<unknown>): Promise<void> {
    const error = await protect(tx).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseConfigurationError)
    expect(String(error)).toMatch(OUTERMOST)
    expect(String(error)).toMatch(
      /the (guard of lease|fence of|fence of rows of) '?[\w-]+'? was called under a savepoint/,
    )
  }

  /** Each protects the same resource every time it is called. */
  const ways: Record<string, () => Promise<(tx: Transaction) => Promise<unknown>>> = {
    guard: async () => {
      const grant = await granted()
      return (tx) => underLease(tx, grant)
    },
    fence: async () => {
      const resource = randomUUID()
      return (tx) => guard.transact(resource, 7n, tx)
    },
    'fence, with a token that is known,': async () => {
      const resource = randomUUID()
      await pool.query('select leasehold.leases_fence($1, 7)', [resource])
      return (tx) => guard.transact(resource, 7n, tx)
    },
    fenceRows: async () => {
      const region = randomUUID()
      await pool.query('insert into accounts values (1, $1, 3), (2, $1, 7)', [region])
      return (tx) => guard.transactRows('accounts', 7n, tx, { where: { region } })
    },
    'fenceRows, with a token that is known,': async () => {
      const region = randomUUID()
      await pool.query('insert into accounts values (1, $1, 7)', [region])
      return (tx) => guard.transactRows('accounts', 7n, tx, { where: { region } })
    },
    'fenceRows of a partitioned table': async () => {
      const id = Math.floor(Math.random() * 1e6)
      await pool.query('insert into parted values ($1, 3)', [id])
      return (tx) => guard.transactRows('parted', 7n, tx, { where: { id } })
    },
  }

  describe.concurrent.each(Object.entries(ways))('%s', (_, open) => {
    it.each(['read committed', 'repeatable read', 'serializable'])('is refused, under %s', async (isolation) => {
      const protect = await open()
      await inTransaction(async (tx) => {
        await tx.query('savepoint one')
        await refused(tx, protect)
        await tx.query('rollback to one')
        await tx.query('savepoint two')
        await refused(tx, protect)
        await tx.query('rollback to one')
        await tx.query('release one')
        // The transaction itself may still be protected.
        await protect(tx)
      }, isolation)
    })

    it('passes if the transaction around it is protected already, and after a savepoint that has ended', async () => {
      const protect = await open()
      await inTransaction(async (tx) => {
        await tx.query('savepoint before; insert into accounts values (0); release before')
        await protect(tx)
        await tx.query('savepoint one')
        await protect(tx)
        await tx.query('savepoint two')
        await protect(tx)
        await tx.query('rollback to one')
        await protect(tx)
        await tx.query('release one')
        await protect(tx)
      })
    })
  })

  it('a fence of a view passes, because its rows do not say who has locked them', async () => {
    await pool.query(`insert into accounts values (1, 'viewed', 3)`)
    await inTransaction(async (tx) => {
      await tx.query('savepoint one')
      expect(await guard.transactRows('viewed', 7n, tx, { where: { id: 1 } })).toBe(1)
    })
  })

  it('the guard is refused while other transactions guard the same lease, and passes in one around it', async () => {
    const grant = await granted()
    await inTransaction(async (other) => {
      await underLease(other, grant)
      await inTransaction(async (tx) => {
        await tx.query('savepoint one')
        await refused(tx, (nested) => underLease(nested, grant))
        await tx.query('rollback to one; release one')
        await underLease(tx, grant)
        await tx.query('savepoint two')
        await underLease(tx, grant)
        await inTransaction((third) => underLease(third, grant))
      })
    })
  })

  it('the guard is refused and passes as ever when heartbeats come in between', async () => {
    const grant = await granted()
    await inTransaction(async (tx) => {
      await underLease(tx, grant)
      for (let beat = 0; beat < 3; beat += 1) {
        expect(await store.renew(grant, never)).toEqual({ renewed: true })
        await tx.query('savepoint one')
        await underLease(tx, grant)
      }
    })
    await inTransaction(async (tx) => {
      await tx.query('savepoint one')
      expect(await store.renew(grant, never)).toEqual({ renewed: true })
      await refused(tx, (nested) => underLease(nested, grant))
    })
  })

  it('the guard of the transaction around it keeps the name after the rollback', async () => {
    const grant = await granted(randomUUID(), 300)
    await inTransaction(async (tx) => {
      await underLease(tx, grant)
      await tx.query('savepoint one')
      await underLease(tx, grant)
      await tx.query('rollback to one')
      await store.release(grant, never)
      expect(await challenge(grant)).toBe(false)
      await tx.query('commit')
      expect(await challenge(grant)).toBe(true)
    })
  })

  it('a nested transaction of postgres.js is refused', async () => {
    const grant = await granted()
    const client = postgres(server.url, { max: 1 })
    await client
      .begin(async (tx) => {
        await expect(tx.savepoint((nested) => underLease(nested, grant))).rejects.toThrow(OUTERMOST)
        // The library rolls back to the savepoint, and leaves it open.
        await expect(underLease(tx, grant)).rejects.toThrow(OUTERMOST)
      })
      .catch(() => {})
    await client.begin(async (tx) => {
      await underLease(tx, grant)
      await expect(tx.savepoint(() => Promise.reject(new Error('rolled back')))).rejects.toThrow('rolled back')
      await tx.savepoint((nested) => underLease(nested, grant))
      await underLease(tx, grant)
    })
    await client.end()
  })

  it('a nested transaction of Drizzle is refused', async () => {
    const grant = await granted()
    const run = (by: Pick<NodePgDatabase, 'execute'>) => async (text: string) => (await by.execute(sql.raw(text))).rows
    await drizzle(pool).transaction(async (tx) => {
      await expect(tx.transaction((nested) => underLease(run(nested), grant))).rejects.toThrow(OUTERMOST)
    })
    await drizzle(pool).transaction(async (tx) => {
      await underLease(run(tx), grant)
      await tx.transaction((nested) => underLease(run(nested), grant))
    })
  })

  it('a block of PL/pgSQL with an exception handler is refused: it is a savepoint', async () => {
    const { name, fencingToken } = await granted()
    const block = (inner: string) => pool.query(`do $$ begin ${inner} exception when division_by_zero then end $$`)
    for (const call of [`guard('${name}', ${fencingToken})`, `fence('${name}', 5)`]) {
      await expect(block(`perform leasehold.leases_${call};`)).rejects.toMatchObject({ code: 'LH003' })
    }
  })
})
