// #region guard
import type { Lease } from '@leasehold/core'
import { MysqlGuard } from '@leasehold/mysql'
import { sql } from 'drizzle-orm'
import type { MySql2Database } from 'drizzle-orm/mysql2'

const guard = new MysqlGuard()

export async function payOut(db: MySql2Database, lease: Lease, account: number, amount: number): Promise<void> {
  await db.transaction(async (tx) => {
    const run = (text: string) => tx.execute(sql.raw(text))
    await guard.transactUnderLease(lease.settings.name, lease.fencingToken, run)
    await tx.execute(sql`update accounts set balance = balance - ${amount} where id = ${account}`)
  })
}
// #endregion guard
