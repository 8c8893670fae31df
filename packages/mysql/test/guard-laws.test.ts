import { MysqlGuard, migrate, type Transaction } from '@leasehold/mysql'
import { describeMysql } from '@leasehold/testing/describe-mysql'
import { MysqlServer } from '@leasehold/testing/mysql-server'
import type { GuardedResource, GuardSubject, OwnFailure } from '@leasehold/testkit'
import { describeGuardLaws } from '@leasehold/testkit/vitest'
import type { Pool as MariadbPool } from 'mariadb'
import type { Pool } from 'mysql2/promise'
import { afterAll, beforeAll } from 'vitest'
import { mariadbPoolTo, poolTo } from './support/libraries.js'

/** Runs work in a transaction, with a function for the user's own SQL. */
type InTransaction = (
  work: (tx: Transaction, run: (sql: string) => PromiseLike<unknown>) => Promise<void>,
) => Promise<void>

/** With any SQL that takes the value. */
interface Guarded extends GuardedResource {
  write(value: string, fencingToken: bigint, sql?: string): Promise<void>
}

describeMysql('MysqlGuard, by', (kind) => {
  let server: MysqlServer
  let pool: Pool
  let mariadb: MariadbPool
  let count = 0

  beforeAll(async () => {
    server = await MysqlServer.start(kind)
    pool = poolTo(server, { connectionLimit: 20 })
    mariadb = mariadbPoolTo(server, { connectionLimit: 20 })
    await migrate(pool)
    await pool.query('create table documents (id varchar(99) primary key, text text not null)')
  })

  afterAll(async () => {
    await pool.end()
    await mariadb.end()
    await server.stop()
  })

  const by =
    (open: () => Pick<Pool | MariadbPool, 'getConnection'>): InTransaction =>
    async (work) => {
      const connection = await open().getConnection()
      try {
        await connection.beginTransaction()
        // The signatures of the two libraries have none in common.
        await work(connection, (sql) => (connection as { query(sql: string): Promise<unknown> }).query(sql))
        await connection.commit()
      } catch (error) {
        await connection.rollback()
        throw error
      } finally {
        await connection.release()
      }
    }

  function subjectOf(name: string, inTransaction: InTransaction): GuardSubject {
    return {
      name,
      start: (): ReturnType<GuardSubject['start']> => {
        count += 1
        const id = `document ${count}`
        const guarded = (token: bigint, text: string): Promise<void> =>
          inTransaction(async (tx, run) => {
            await new MysqlGuard().transact(id, token, tx)
            await run(text)
          })
        const upsert = (value: string): string => `replace into documents values ('${id}', '${value}')`
        const failingStatement: OwnFailure = {
          name: 'a statement that the server rejects',
          guarded: (guard, token) => unnumbered((guard as Guarded).write('5', token, 'select no_such_column')),
          unguarded: () => unnumbered(inTransaction(async (_, run) => void (await run('select no_such_column')))),
        }
        return {
          open: (): Guarded => ({
            write: (value, token, text = upsert(value)) => guarded(token, text),
            delete: (token: bigint) => guarded(token, `delete from documents where id = '${id}'`),
          }),
          read: async () => {
            const [row] = await server.query(`select text from documents where id = '${id}'`)
            return row?.text as string | undefined
          },
          ownFailures: [failingStatement],
        }
      },
    }
  }

  describeGuardLaws(
    subjectOf(
      'mysql2',
      by(() => pool),
    ),
  )
  describeGuardLaws(
    subjectOf(
      'mariadb',
      by(() => mariadb),
    ),
  )
})

/** A failure without the number of its connection, which the mariadb library writes into the message. */
async function unnumbered(failing: Promise<void>): Promise<void> {
  return await failing.catch((error: Error) => {
    error.message = error.message.replace(/conn:\d+/, 'conn:n')
    throw error
  })
}
