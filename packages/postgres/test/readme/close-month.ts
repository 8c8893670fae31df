// #region example
import { createLease } from '@leasehold/core'
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'

export async function closeMonth(url: string, work: () => Promise<void>): Promise<void> {
  const pool = new Pool({ connectionString: url })
  // Without a listener, pg ends the process when the server restarts.
  pool.on('error', () => {})
  await migrate(pool)
  const store = new PostgresLeaseStore(pool)
  await createLease(store, 'close-month').run(work)
  await store.close()
  await pool.end()
}
// #endregion example
