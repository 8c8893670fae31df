import { randomUUID } from 'node:crypto'
import { type Grant, LeaseConfigurationError } from '@leasehold/core'
import { migrate, PostgresGuard, PostgresLeaseStore, type Transaction } from '@leasehold/postgres'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { never } from '@leasehold/testing/job-claims'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import type { Pool, PoolClient } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { poolTo } from './support/pool-to.js'
import { underLease } from './support/under-lease.js'

const guard = new PostgresGuard()

/** As Knex reads a text of SQL: every question mark that no backslash precedes is a parameter, also within a literal. */
function asKnex(text: string): string {
  let count = 0
  return text.replaceAll(/\\?\?/g, (found) => {
    if (found !== '?') return '?'
    count += 1
    return `$${count}`
  })
}

describePostgres('a transaction of another library', () => {
  let server: PostgresServer
  let pool: Pool
  let store: PostgresLeaseStore

  beforeAll(async () => {
    server = await PostgresServer.start()
    pool = poolTo(server)
    await migrate(pool)
    await pool.query('create table accounts (name text, fencing_token bigint)')
    store = new PostgresLeaseStore(pool)
  })

  afterAll(async () => {
    await store.close()
    await pool.end()
    await server.stop()
  })

  async function granted(name: string): Promise<Grant> {
    const outcome = await store.acquire({ name, owner: 'anna', grantId: randomUUID(), ttl: 60_000 }, never)
    if (!outcome.granted) throw new Error('held')
    return outcome.grant
  }

  async function within(act: (client: PoolClient) => Promise<void>): Promise<void> {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await act(client)
    } finally {
      await client.query('rollback')
      client.release()
    }
  }

  const rowsOf = async (client: PoolClient, text: string): Promise<unknown[]> => (await client.query(text)).rows

  const libraries: Record<string, (client: PoolClient) => Transaction> = {
    // EntityManager.query and QueryRunner.query of TypeORM, and query of a task of pg-promise.
    'whose query resolves with rows': (client) => ({ query: (text) => rowsOf(client, text) }),
    // raw() of a transaction of Knex.
    'that takes question marks for parameters': (client) => (text) => rowsOf(client, asKnex(text)),
    'whose function resolves with a result, as in JavaScript': (client) =>
      ((text: string) => client.query(text)) as unknown as Transaction,
  }

  it.each(Object.entries(libraries))('%s takes the guard and the fences', async (_, open) => {
    const name = `what? why?? \\? \\\\?`
    const grant = await granted(`${name} ${randomUUID()}`)
    await pool.query('insert into accounts values ($1, 1)', [grant.name])
    await within(async (client) => {
      const transaction = open(client)
      await underLease(transaction, grant)
      await guard.transact(grant.name, 5n, transaction)
      expect(await guard.transactRows('accounts', 5n, transaction, { where: { name: grant.name } })).toBe(1)
      const { rows } = await client.query('select from leasehold.leases_fences where resource = $1', [grant.name])
      expect(rows.length).toBe(1)
    })
  })

  it.each<[string, unknown]>([
    // A transaction of Knex itself, which is a function of the name of a table.
    ['is a function that builds queries', Object.assign(() => [{}], { raw: () => ({ rows: [{}] }) })],
    ['returns nothing', () => Promise.resolve(undefined)],
    ['returns no rows', () => Promise.resolve([])],
    ['returns what the server has changed', () => Promise.resolve({ affectedRows: 1 })],
    ['has a query that takes a callback', { query: () => undefined }],
  ])('that %s is refused', async (_, transaction) => {
    const grant = await granted(randomUUID())
    for (const act of [
      () => underLease(transaction as Transaction, grant),
      () => guard.transact('a', 5n, transaction as Transaction),
      () => guard.transactRows('accounts', 5n, transaction as Transaction, { where: { name: 'a' } }),
    ]) {
      await expect(act()).rejects.toBeInstanceOf(LeaseConfigurationError)
    }
  })

  it('that puts the SQL into its errors does not put it into those of the guard', async () => {
    const grant = await granted(randomUUID())
    await within(async (client) => {
      const knex: Transaction = async (text) => {
        try {
          return await rowsOf(client, text)
        } catch (error) {
          throw Object.assign(error as Error, { message: `${text} - ${(error as Error).message}` })
        }
      }
      await client.query('savepoint one')
      await expect(underLease(knex, { ...grant, fencingToken: 1n })).rejects.not.toThrow('select')
      await client.query('rollback to one')
      await expect(underLease(knex, grant)).rejects.not.toThrow('select')
    })
  })
})
