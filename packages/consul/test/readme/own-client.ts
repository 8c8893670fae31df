// #region own
import { ConsulGuard, ConsulLeaseStore } from '@leasehold/consul'
import { createLease } from '@leasehold/core'
import type Consul from 'consul'

export async function reportWith(consul: Consul, create: () => Promise<string>): Promise<void> {
  const store = new ConsulLeaseStore({ consul })
  const guard = new ConsulGuard({ consul })
  await createLease(store, 'report').run(async ({ fencingToken }) => {
    await guard.write('reports/latest', fencingToken, await create())
  })
  // Your Consul object stays open.
  await guard.close()
  await store.close()
}
// #endregion own
