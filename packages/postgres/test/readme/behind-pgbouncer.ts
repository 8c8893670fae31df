// #region listen
import { PostgresLeaseStore } from '@leasehold/postgres'
import type { Pool } from 'pg'

export function storeBehindPgBouncer(bouncer: Pool, server: Pool): PostgresLeaseStore {
  return new PostgresLeaseStore(bouncer, { listen: server })
}
// #endregion listen
