// #region example
import { createLease, durations } from '@leasehold/core'
import { NatsGuard, NatsLeaseStore } from '@leasehold/nats'
import type { NatsConnection } from '@nats-io/transport-node'

export async function publishPrices(connection: NatsConnection, compute: () => Promise<string>): Promise<void> {
  const store = new NatsLeaseStore(connection)
  const guard = new NatsGuard(connection, { bucket: 'prices' })
  await createLease(store, 'price-list', durations.leaderElection).run(async ({ fencingToken }) => {
    const prices = await compute()
    // Rejects with a LeaseLostError if a larger token has written the key meanwhile.
    await guard.write('latest', fencingToken, prices)
  })
  await store.close()
}
// #endregion example
