// #region example
import { migrate, PostgresLeaseStore } from '@leasehold/postgres'
import { httpTransport, ShardRegion } from '@leasehold/sharding'
import { migrateEntities, postgresState } from '@leasehold/sharding/postgres'
import type { Pool } from 'pg'
import type { AnyActorLogic } from 'xstate'

/** `host`: under which the other instances reach this one. */
export async function startAccounts(pool: Pool, account: AnyActorLogic, host: string): Promise<ShardRegion> {
  await migrate(pool)
  await migrateEntities(pool)
  const accounts = new ShardRegion(new PostgresLeaseStore(pool), {
    name: 'accounts',
    shards: 64,
    entity: account,
    transport: httpTransport({ address: `http://${host}:7001`, secret: process.env.SHARDING_SECRET ?? '' }),
    state: postgresState(pool),
  })
  await accounts.start()
  return accounts
}
// #endregion example
