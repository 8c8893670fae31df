// #region guard
import type { Lease } from '@leasehold/core'
import { PostgresGuard } from '@leasehold/postgres'
import type { Pool } from 'pg'

const guard = new PostgresGuard()

/** Pays only while the lease is held. Rejects with a LeaseLostError, and writes nothing, if it is not. */
export async function payOut(pool: Pool, lease: Lease, account: number, amount: number): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await guard.transactUnderLease(lease.settings.name, lease.fencingToken, client)
    await client.query('update accounts set balance = balance - $1 where id = $2', [amount, account])
    await client.query('commit')
  } catch (error) {
    await client.query('rollback')
    throw error
  } finally {
    client.release()
  }
}
// #endregion guard
