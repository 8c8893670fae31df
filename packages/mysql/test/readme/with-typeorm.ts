// #region guard
import type { Lease } from '@leasehold/core'
import { MysqlGuard } from '@leasehold/mysql'
import type { DataSource } from 'typeorm'

const guard = new MysqlGuard()

export async function payOut(source: DataSource, lease: Lease, account: number, amount: number): Promise<void> {
  await source.transaction(async (manager) => {
    await guard.transactUnderLease(lease.settings.name, lease.fencingToken, manager)
    await manager.query('update accounts set balance = balance - ? where id = ?', [amount, account])
  })
}
// #endregion guard
