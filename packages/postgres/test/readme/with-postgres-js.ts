// #region guard
import type { Lease } from '@leasehold/core'
import { PostgresGuard } from '@leasehold/postgres'
import type { Sql } from 'postgres'

const guard = new PostgresGuard()

export async function payOut(sql: Sql, lease: Lease, account: number, amount: number): Promise<void> {
  await sql.begin(async (tx) => {
    await guard.transactUnderLease(lease.settings.name, lease.fencingToken, tx)
    await tx`update accounts set balance = balance - ${amount} where id = ${account}`
  })
}
// #endregion guard
