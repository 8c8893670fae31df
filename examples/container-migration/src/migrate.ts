// #region migrate
import type { BlobServiceClient, ContainerClient } from '@azure/storage-blob'
import { AzureBlobGuard, type AzureBlobLease, AzureBlobLeaseStore, createAzureBlobLease } from '@leasehold/azure-blob'

/** Of the blobs in a container: the migration from version 1 begins after the blob `after`. */
type Progress = { readonly version: '1'; readonly after: string } | { readonly version: '2' }

export interface MigrationOptions {
  /** How long to wait for another instance that migrates the container, in milliseconds; 0: skip the migration. */
  readonly wait: number
  /** Turns the text of a blob of version 1 into that of version 2. */
  readonly convert: (text: string, blob: string) => Promise<string>
}

export type MigrationOutcome =
  | { readonly outcome: 'migrated'; readonly after: string; readonly blobs: readonly string[] }
  | { readonly outcome: 'done-before' }
  | { readonly outcome: 'skipped' }

/** Migrates all blobs of a container once, however many instances call it, and whichever of them die. */
export async function migrateContainer(
  service: BlobServiceClient,
  name: string,
  { wait, convert }: MigrationOptions,
): Promise<MigrationOutcome> {
  // The lease is on the container itself: the service rejects its deletion while it is migrated.
  const store = new AzureBlobLeaseStore(service, { names: 'exact' })
  const container = service.getContainerClient(name)
  await using lease = createAzureBlobLease(store, name, { heartbeatTimeout: 15_000, heartbeatInterval: 2_000 })
  if (!(await lease.acquire({ wait }))) return { outcome: 'skipped' }
  // The metadata that the last holder left says where it was when it ended.
  const progress = (lease.previous ?? { version: '1', after: '' }) as Progress
  if (progress.version === '2') return { outcome: 'done-before' }
  const blobs = await lease.run((held) => migrateBlobs(container, lease, progress.after, convert, held))
  // The mark is left by the release, so it is written before another instance can be granted.
  await lease.release({ metadata: { version: '2' } })
  return { outcome: 'migrated', after: progress.after, blobs }
}

async function migrateBlobs(
  container: ContainerClient,
  lease: AzureBlobLease,
  after: string,
  convert: MigrationOptions['convert'],
  { signal, fencingToken }: { readonly signal: AbortSignal; readonly fencingToken: bigint },
): Promise<readonly string[]> {
  const guard = new AzureBlobGuard(container)
  const migrated: string[] = []
  for await (const { name } of container.listBlobsFlat()) {
    if (name <= after) continue
    signal.throwIfAborted()
    const isMigrated = await guard.transact(name, fencingToken, async (blob, fenced) => {
      // The last holder may have died between the write of the blob and that of the progress.
      if (fenced.metadata.version === '2') return false
      const text = await convert(String(await blob.downloadToBuffer()), name)
      // Refused if an instance with a larger token has written meanwhile.
      const metadata = { ...fenced.metadata, version: '2' }
      await blob.upload(text, Buffer.byteLength(text), { ...fenced, metadata })
      return true
    })
    if (isMigrated) migrated.push(name)
    await lease.update({ version: '1', after: name })
  }
  return migrated
}
// #endregion migrate
