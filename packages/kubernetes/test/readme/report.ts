// #region example
import { createLease } from '@leasehold/core'
import { KubernetesGuard, KubernetesLeaseStore, type KubernetesLeaseStoreOptions } from '@leasehold/kubernetes'

export async function reportOnce(report: () => Promise<string>, options: KubernetesLeaseStoreOptions = {}) {
  const store = new KubernetesLeaseStore(options)
  const guard = new KubernetesGuard(options)
  await createLease(store, 'report', { heartbeatTimeout: 15_000, heartbeatInterval: 3_000 }).run(
    async ({ fencingToken }) => {
      const text = await report()
      // Rejects with a LeaseLostError if the object was written under a larger token.
      await guard.write('v1/configmaps/latest-report', fencingToken, { data: { text } })
    },
  )
  await guard.close()
  await store.close()
}
// #endregion example
