// #region guard
import type { Lease } from '@leasehold/core'
import { MysqlGuard } from '@leasehold/mysql'
import { type Kysely, sql } from 'kysely'

const guard = new MysqlGuard()

interface Tables {
  accounts: { id: number; balance: number }
}

export async function payOut(db: Kysely<Tables>, lease: Lease, account: number, amount: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const run = async (text: string) => (await sql.raw(text).execute(tx)).rows
    await guard.transactUnderLease(lease.settings.name, lease.fencingToken, run)
    await tx
      .updateTable('accounts')
      .set(({ eb }) => ({ balance: eb('balance', '-', amount) }))
      .where('id', '=', account)
      .execute()
  })
}
// #endregion guard
