// #region guard
import type { Lease } from '@leasehold/core'
import { MysqlGuard } from '@leasehold/mysql'
import type { Knex } from 'knex'

const guard = new MysqlGuard()

export async function payOut(knex: Knex, lease: Lease, account: number, amount: number): Promise<void> {
  await knex.transaction(async (trx) => {
    const run = async (text: string) => (await trx.raw(text))[0]
    await guard.transactUnderLease(lease.settings.name, lease.fencingToken, run)
    await trx('accounts').where({ id: account }).decrement('balance', amount)
  })
}
// #endregion guard
