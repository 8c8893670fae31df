// #region guard
import type { Lease } from '@leasehold/core'
import { PostgresGuard } from '@leasehold/postgres'
import { sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'

const guard = new PostgresGuard()

export async function payOut(db: NodePgDatabase, lease: Lease, account: number, amount: number): Promise<void> {
  await db.transaction(async (tx) => {
    const run = async (text: string) => (await tx.execute(sql.raw(text))).rows
    await guard.transactUnderLease(lease.settings.name, lease.fencingToken, run)
    await tx.execute(sql`update accounts set balance = balance - ${amount} where id = ${account}`)
  })
}
// #endregion guard
