import type { ContainerClient } from '@azure/storage-blob'
import { AzureBlobGuard } from '@leasehold/azure-blob'
import { BatchedLedger, type Entry, parseLedger, toLine } from '@leasehold/example-failover'

const NAME = 'ledger.txt'

/** A blob with entries. Each write reads it and replaces it under the fencing token, with all entries that wait. */
export class BlobLedger extends BatchedLedger {
  readonly #guard: AzureBlobGuard

  constructor(container: ContainerClient) {
    super()
    this.#guard = new AzureBlobGuard(container)
  }

  // #region fenced
  protected override async append(token: bigint, entries: readonly Entry[]): Promise<void> {
    await this.#guard.transact(NAME, token, async (blob, fenced) => {
      const { conditions } = fenced
      const isNew = conditions.ifNoneMatch !== undefined
      const before = isNew ? '' : String(await blob.downloadToBuffer(0, undefined, { conditions }))
      const text = before + entries.map(toLine).join('')
      await blob.upload(text, Buffer.byteLength(text), { ...fenced })
    })
  }
  // #endregion fenced
}

export async function readBlobLedger(container: ContainerClient): Promise<readonly Entry[]> {
  return parseLedger(String(await container.getBlobClient(NAME).downloadToBuffer()))
}
