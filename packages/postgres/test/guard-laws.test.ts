import { migrate, PostgresGuard, type Transaction } from '@leasehold/postgres'
import { describePostgres } from '@leasehold/testing/describe-postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import type { GuardedResource, GuardSubject, OwnFailure } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import type { Pool } from 'pg'
import postgres from 'postgres'
import { afterAll, beforeAll } from 'vitest'
import { poolTo } from './support/pool-to.js'

/** Runs work in a transaction, with a function for the user's own SQL. */
type InTransaction = (
  work: (tx: Transaction, run: (sql: string) => PromiseLike<unknown>) => Promise<void>,
) => Promise<void>

/** With any SQL that takes the value. */
interface Guarded extends GuardedResource {
  write(value: string, fencingToken: bigint, sql?: string): Promise<void>
}

describePostgres('PostgresGuard, by', () => {
  let server: PostgresServer
  let pool: Pool
  let sql: postgres.Sql
  let count = 0

  beforeAll(async () => {
    server = await PostgresServer.start()
    pool = poolTo(server, { max: 20 })
    sql = postgres(server.url, { max: 20, onnotice: () => {} })
    await migrate(pool)
    await pool.query('create table documents (id text primary key, text text not null)')
  })

  afterAll(async () => {
    await pool.end()
    await sql.end()
    await server.stop()
  })

  const byPool: InTransaction = async (work) => {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await work(client, (text) => client.query(text))
      await client.query('commit')
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  }

  const byPostgresJs: InTransaction = async (work) => {
    await sql.begin((tx) => work(tx, (text) => tx.unsafe(text)))
  }

  function subjectOf(name: string, inTransaction: InTransaction): GuardSubject {
    return {
      name,
      start: (): ReturnType<GuardSubject['start']> => {
        count += 1
        const id = `document ${count}`
        const guarded = (token: bigint, text: string): Promise<void> =>
          inTransaction(async (tx, run) => {
            await new PostgresGuard().transact(id, token, tx)
            await run(text)
          })
        const upsert = (value: string): string =>
          `insert into documents values ('${id}', '${value}') on conflict (id) do update set text = excluded.text`
        const failingStatement: OwnFailure = {
          name: 'a statement that the server rejects',
          guarded: (guard, token) => (guard as Guarded).write('5', token, 'select 1 / 0'),
          unguarded: () => inTransaction(async (_, run) => void (await run('select 1 / 0'))),
        }
        return {
          open: (): Guarded => ({
            write: (value, token, text = upsert(value)) => guarded(token, text),
            delete: (token: bigint) => guarded(token, `delete from documents where id = '${id}'`),
          }),
          read: async () => (await pool.query('select text from documents where id = $1', [id])).rows[0]?.text,
          ownFailures: [failingStatement],
        }
      },
    }
  }

  describeGuardLaws(subjectOf('pg', (work) => byPool(work)))
  describeGuardLaws(subjectOf('postgres.js', (work) => byPostgresJs(work)))
})
