// #region example
import { PostgresLeaseStore } from '@leasehold/postgres'
import { httpTransport, ShardRegion } from '@leasehold/sharding'
import { migrateEntities, postgresState } from '@leasehold/sharding/postgres'
import type { Pool } from 'pg'
import type { AnyActorLogic } from 'xstate'

/** `address`: under which the other instances reach this one, such as http://10.0.0.4:7001. */
export async function startAccounts(
  pool: Pool,
  account: AnyActorLogic,
  { address, secret }: { readonly address: string; readonly secret: string },
): Promise<ShardRegion> {
  // Also creates the tables of the leases.
  await migrateEntities(pool)
  const accounts = new ShardRegion(new PostgresLeaseStore(pool), {
    name: 'accounts',
    shards: 64,
    entity: account,
    transport: httpTransport({ address, secret }),
    state: postgresState(pool),
  })
  await accounts.start()
  return accounts
}
// #endregion example
