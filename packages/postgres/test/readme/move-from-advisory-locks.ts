// #region deploy-1
import { createLease } from '@leasehold/core'
import { PostgresLeaseStore } from '@leasehold/postgres'
import type { Pool } from 'pg'

export async function closeBooks(pool: Pool, close: () => Promise<void>): Promise<void> {
  // Before: select pg_advisory_lock(4711)
  const store = new PostgresLeaseStore(pool, { compat: { library: 'pg-advisory-lock', key: () => 4711 } })
  await createLease(store, 'close-books').run(close, { wait: 60_000 })
  await store.close()
}
// #endregion deploy-1
