// #region example
import type { ContainerClient } from '@azure/storage-blob'
import { AzureBlobGuard, AzureBlobLeaseStore, createAzureBlobLease } from '@leasehold/azure-blob'

export async function publishOnce(container: ContainerClient, text: string) {
  const store = new AzureBlobLeaseStore(container, { prefix: 'leases/' })
  const guard = new AzureBlobGuard(container)
  await createAzureBlobLease(store, 'report', { heartbeatTimeout: 30_000 }).run(async ({ fencingToken }) => {
    // Rejects if the blob was written under a larger token: a process that wakes up too late writes nothing.
    await guard.write('report.txt', fencingToken, text)
  })
  await store.close()
}
// #endregion example
