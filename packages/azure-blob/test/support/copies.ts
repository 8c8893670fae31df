import type { ContainerClient } from '@azure/storage-blob'

/** Of a blob or a container, for both have the same metadata and leases. */
type Leased = Pick<ContainerClient, 'getProperties' | 'setMetadata'>

/** Copies the record in the metadata; resolves with a function that writes the copy over the record. */
export async function copyOfMetadata(client: Leased): Promise<() => Promise<void>> {
  const { metadata = {} } = await client.getProperties()
  return async () => {
    const now = await client.getProperties()
    const leaseId = now.leaseState === 'leased' ? (now.metadata?.leaseholdgrant ?? '') : undefined
    await client.setMetadata(metadata, leaseId === undefined ? {} : { conditions: { leaseId } })
  }
}

/** Copies a blob like a snapshot, content and metadata; resolves with a function that promotes the copy. */
export async function snapshotOf(container: ContainerClient, blobName: string): Promise<() => Promise<void>> {
  const blob = container.getBlockBlobClient(blobName)
  const { snapshot = '' } = await blob.createSnapshot()
  return async () => {
    const copying = await blob.beginCopyFromURL(blob.withSnapshot(snapshot).url)
    await copying.pollUntilDone()
  }
}
