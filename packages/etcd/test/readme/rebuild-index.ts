// #region example
import { createLease } from '@leasehold/core'
import { EtcdClient, EtcdGuard, EtcdLeaseStore } from '@leasehold/etcd'

export async function rebuildOnce(endpoints: string[], build: () => Promise<string>): Promise<void> {
  const client = new EtcdClient({ endpoints })
  const store = new EtcdLeaseStore(client)
  const guard = new EtcdGuard(client)
  await createLease(store, 'index', {
    heartbeatTimeout: 10_000,
    heartbeatInterval: 2_500,
    operationTimeout: 2_000,
  }).run(async ({ fencingToken }) => {
    const index = await build()
    // Rejects with a LeaseLostError if a larger token has written the key meanwhile.
    await guard.write('index/latest', fencingToken, index)
  })
  await store.close()
  client.close()
}
// #endregion example
