import { type Clock, systemClock } from '@leasehold/core'
import { MysqlGuard, MysqlLeaseStore } from '@leasehold/mysql'
import { createPool, type PoolConnection, type RowDataPacket } from 'mysql2/promise'
import { guardedWrite } from '../guarded-write.js'
import type { Connection } from '../system.js'
import { type MysqlClientSettings, REGISTERS } from './settings.js'

/** Writes in transactions of its own that pass the guard of the package first. */
export default function connect(
  { port, operationTimeout }: MysqlClientSettings,
  _names: readonly string[],
  clock: Clock,
): Promise<Connection> {
  const pool = createPool({
    host: '127.0.0.1',
    port,
    user: 'root',
    database: 'test',
    connectionLimit: 6,
    connectTimeout: operationTimeout,
  })
  const store = new MysqlLeaseStore(pool, { clock })
  const guard = new MysqlGuard()

  /** A connection that does not answer in time is destroyed, so that nothing of it is used again. */
  async function use<T>(work: (connection: PoolConnection) => Promise<T>): Promise<T> {
    const connection = await pool.getConnection()
    const cancel = systemClock.schedule(operationTimeout, () => connection.destroy())
    try {
      const result = await work(connection)
      connection.release()
      return result
    } catch (error) {
      connection.destroy()
      throw error
    } finally {
      cancel()
    }
  }

  return Promise.resolve({
    store,
    register: (name) => ({
      write: (value, token) =>
        guardedWrite(
          use(async (connection) => {
            await connection.beginTransaction()
            await guard.transact(`register:${name}`, token, connection)
            await connection.query(`update ${REGISTERS} set value = ? where name = ?`, [value, name])
            await connection.commit()
          }),
        ),
      read: () =>
        use(async (connection) => {
          const [rows] = await connection.query<RowDataPacket[]>(`select value from ${REGISTERS} where name = ?`, [
            name,
          ])
          return (rows[0]?.value as string | null | undefined) ?? undefined
        }),
    }),
    close: async () => {
      await store.close()
      // A connection that was never made must not count as the end of the process.
      await pool.end().catch(() => {})
    },
  })
}
