// #region guard
import type { Lease } from '@leasehold/core'
import { guard } from '@leasehold/postgres'
import { sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'

export async function payOut(db: NodePgDatabase, lease: Lease, account: number, amount: number): Promise<void> {
  await db.transaction(async (tx) => {
    await guard(async (text) => (await tx.execute(sql.raw(text))).rows, lease)
    await tx.execute(sql`update accounts set balance = balance - ${amount} where id = ${account}`)
  })
}
// #endregion guard
