// #region conditions
import type { AzureBlobLease } from '@leasehold/azure-blob'

export async function writeUnderLease(lease: AzureBlobLease, text: string) {
  const { metadata = {} } = await lease.blob.getProperties()
  // 412 once the lease is lost, whatever this process believes.
  await lease.blob.upload(text, Buffer.byteLength(text), { conditions: lease.conditions(), metadata })
}
// #endregion conditions
