// #region guard
import type { Lease } from '@leasehold/core'
import { MysqlGuard } from '@leasehold/mysql'
import type { Pool } from 'mariadb'

const guard = new MysqlGuard()

export async function payOut(pool: Pool, lease: Lease, account: number, amount: number): Promise<void> {
  const connection = await pool.getConnection()
  try {
    await connection.beginTransaction()
    await guard.transactUnderLease(lease.settings.name, lease.fencingToken, connection)
    await connection.query('update accounts set balance = balance - ? where id = ?', [amount, account])
    await connection.commit()
  } catch (error) {
    await connection.rollback()
    throw error
  } finally {
    await connection.release()
  }
}
// #endregion guard
