// #region exact
import type { ContainerClient } from '@azure/storage-blob'
import { AzureBlobLeaseStore, createAzureBlobLease } from '@leasehold/azure-blob'

export async function appendToReport(container: ContainerClient, line: string) {
  const store = new AzureBlobLeaseStore(container, { names: 'exact', metadata: false })
  const lease = createAzureBlobLease(store, 'reports/2024.csv', { heartbeatTimeout: 30_000 })
  await lease.run(async () => {
    const text = `${await lease.blob.downloadToBuffer()}${line}\n`
    await lease.blob.upload(text, Buffer.byteLength(text), { conditions: lease.conditions() })
  })
  await store.close()
  return lease.etag
}
// #endregion exact
