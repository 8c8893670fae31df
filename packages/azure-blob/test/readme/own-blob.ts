// #region conditions
import type { AzureBlobLease } from '@leasehold/azure-blob'

export async function writeUnderLease(lease: AzureBlobLease, text: string) {
  const { metadata = {} } = await lease.blob.getProperties()
  // The service answers 412 after the lease is lost.
  await lease.blob.upload(text, Buffer.byteLength(text), { conditions: lease.conditions(), metadata })
}
// #endregion conditions
