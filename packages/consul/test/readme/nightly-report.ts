// #region example
import { ConsulGuard, ConsulLeaseStore } from '@leasehold/consul'
import { createLease } from '@leasehold/core'

export async function reportOnce(agents: readonly string[], create: () => Promise<string>): Promise<void> {
  const store = new ConsulLeaseStore({ addresses: agents })
  const guard = new ConsulGuard({ addresses: agents })
  await createLease(store, 'report', {
    heartbeatTimeout: 10_000,
    heartbeatInterval: 2_500,
    operationTimeout: 2_000,
  }).run(async ({ fencingToken }) => {
    const report = await create()
    // Rejects with a LeaseLostError if a larger token has written the key meanwhile.
    await guard.write('reports/latest', fencingToken, report)
  })
  await guard.close()
  await store.close()
}
// #endregion example
