import { LeaseUnavailableError } from '@leasehold/core'
import { SpareConnections } from '@leasehold/core/sql-kit'
import type { StoreCall } from '@leasehold/core/store'
import { untilAborted } from '@leasehold/core/store-kit'
import { isUsable } from '../failure-of.js'
import { misconfigured } from '../mysql-options.js'
import { type Answer, answerOf, IN_TRANSACTION, textIn } from './answer.js'
import type { Mysql2Callbacks, MysqlClient, MysqlConnection, MysqlPool, MysqlPoolConnection } from './mysql-client.js'

/** A client library as the store uses it. */
export interface ClientAdapter {
  /** How many connections the client opens at most, where it says so. */
  readonly connections: number | undefined
  /** Whether a statement that ends the open transaction of a user is impossible. */
  readonly isPool: boolean
  /**
   * Sends one statement, which is committed when this resolves. Rejects with the reason of the abort when the call is aborted,
   * and then ends the connection of a pool.
   */
  run(sql: string, call: StoreCall): Promise<Answer>
}

/** Throws a `LeaseConfigurationError` if the value is not a client of a supported library. */
export function adapterFor(client: MysqlClient): ClientAdapter {
  // A null or a primitive has no methods.
  const given: object = Object(client)
  if ('promise' in given && typeof given.promise === 'function') return adapterFor((given as Mysql2Callbacks).promise())
  if ('getConnection' in given) return poolAdapter(client as MysqlPool)
  if ('query' in given && 'destroy' in given) return connectionAdapter(client as MysqlConnection)
  throw misconfigured(
    'the client is not supported: pass a pool or a connection of mysql2 or mysql2/promise, or one of mariadb',
  )
}

/** Each statement takes a connection from the pool and gives it back; a broken, silent or read-only one leaves the pool. */
function poolAdapter(pool: MysqlPool): ClientAdapter {
  const sessions = new Sessions()
  const spares = new SpareConnections(() => connectionOf(pool), giveBack)
  return {
    connections: limitOf(pool),
    isPool: true,
    async run(sql, call) {
      if (call.aborted) throw call.signal.reason
      const connection = await spares.take(call)
      let isBroken = true
      try {
        const answer = await sessions.run(connection, sql, call)
        isBroken = false
        return answer
      } catch (error) {
        isBroken = call.aborted || !isUsable(error)
        throw error
      } finally {
        if (isBroken) connection.destroy()
        else giveBack(connection)
      }
    },
  }
}

async function connectionOf(pool: MysqlPool): Promise<MysqlPoolConnection> {
  const connecting = pool.getConnection()
  if (typeof connecting?.then === 'function') return await connecting
  throw misconfigured('this pool has callbacks: pass one of mariadb instead of mariadb/callback')
}

function giveBack(connection: MysqlPoolConnection): void {
  // That of mariadb is a promise, which rejects if the connection has just ended.
  Promise.resolve(connection.release()).catch(() => {})
}

/** Pools of mysql2 have it. */
function limitOf(pool: object): number | undefined {
  const { pool: core } = pool as { readonly pool?: { readonly config?: { readonly connectionLimit?: unknown } } }
  const limit = core?.config?.connectionLimit
  return typeof limit === 'number' ? limit : undefined
}

/** The last statement of each connection: several stores may share one. */
const lastStatements = new WeakMap<object, Promise<unknown>>()

/** Statements take turns. One whose call is aborted before its turn is never sent. */
function connectionAdapter(connection: MysqlConnection): ClientAdapter {
  const sessions = new Sessions()
  return {
    connections: 1,
    isPool: false,
    async run(sql, call) {
      const key = coreOf(connection)
      const answered = (lastStatements.get(key) ?? Promise.resolve()).then(() => {
        if (call.aborted) throw call.signal.reason
        return sessions.run(connection, sql, call)
      })
      lastStatements.set(
        key,
        answered.catch(() => {}),
      )
      return await untilAborted(answered, call)
    },
  }
}

/** What the store has to know about the sessions of a client. */
class Sessions {
  /** Whether a session commits each statement by itself. */
  readonly #commits = new WeakMap<object, boolean>()

  async run(connection: MysqlConnection, sql: string, call: StoreCall): Promise<Answer> {
    const query = async (text: string) => answerOf(await untilAborted(Promise.resolve(connection.query(text)), call))
    const core = coreOf(connection)
    let commits = this.#commits.get(core)
    if (commits === undefined) {
      commits = textIn(await query('select @@autocommit as answer')) === '1'
      this.#commits.set(core, commits)
    }
    if (commits) {
      const answer = await query(sql)
      if (answer.inTransaction || isInTransaction(connection)) throw openTransaction()
      return answer
    }
    // An older snapshot would show the past, and what is not committed is not granted.
    await query('commit')
    const answer = await query(sql)
    await query('commit')
    return answer
  }
}

function openTransaction(): LeaseUnavailableError {
  return new LeaseUnavailableError(
    'the connection has an open transaction, so that nothing of it is granted before it ends: end each transaction before ' +
      'its connection goes back to the pool, and give a store no connection with a transaction',
    { store: 'mysql' },
  )
}

/** Connections of mariadb have the status of the server. */
function isInTransaction(connection: object): boolean {
  const { info } = connection as { readonly info?: { readonly status?: unknown } | null }
  return typeof info?.status === 'number' && (info.status & IN_TRANSACTION) !== 0
}

/** The connection itself. The promise API puts a new wrapper around it each time. */
function coreOf(connection: object): object {
  const { connection: core } = connection as { readonly connection?: unknown }
  return typeof core === 'object' && core !== null ? core : connection
}
