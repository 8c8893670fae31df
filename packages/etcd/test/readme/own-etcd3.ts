// #region own
import { createLease } from '@leasehold/core'
import { EtcdClient, EtcdLeaseStore } from '@leasehold/etcd'
import type { Etcd3 } from 'etcd3'

export async function rebuildWith(etcd3: Etcd3, build: () => Promise<string>): Promise<void> {
  const client = new EtcdClient({ etcd3 })
  const store = new EtcdLeaseStore(client)
  await createLease(store, 'index').run(async () => {
    await etcd3.put('index/latest').value(await build())
  })
  await store.close()
  // Your Etcd3 object stays open.
  client.close()
}
// #endregion own
