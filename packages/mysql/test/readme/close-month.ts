// #region example
import { createLease } from '@leasehold/core'
import { MysqlLeaseStore } from '@leasehold/mysql'
import { createPool } from 'mysql2/promise'

export async function closeMonth(url: string, work: () => Promise<void>): Promise<void> {
  const pool = createPool(url)
  const store = new MysqlLeaseStore(pool)
  await createLease(store, 'close-month').run(work)
  await store.close()
  await pool.end()
}
// #endregion example
