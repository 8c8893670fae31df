// #region guard
import type { Lease } from '@leasehold/core'
import { guard } from '@leasehold/postgres'
import { type Kysely, sql } from 'kysely'

interface Tables {
  accounts: { id: number; balance: number }
}

export async function payOut(db: Kysely<Tables>, lease: Lease, account: number, amount: number): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await guard(async (text) => (await sql.raw(text).execute(tx)).rows, lease)
    await tx
      .updateTable('accounts')
      .set(({ eb }) => ({ balance: eb('balance', '-', amount) }))
      .where('id', '=', account)
      .execute()
  })
}
// #endregion guard
