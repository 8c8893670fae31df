// #region guard
import type { Lease } from '@leasehold/core'
import { guard } from '@leasehold/postgres'
import type { Sql } from 'postgres'

export async function payOut(sql: Sql, lease: Lease, account: number, amount: number): Promise<void> {
  await sql.begin(async (tx) => {
    await guard(tx, lease)
    await tx`update accounts set balance = balance - ${amount} where id = ${account}`
  })
}
// #endregion guard
