import type { ContainerClient } from '@azure/storage-blob'
import { AzureBlobGuard } from '@leasehold/azure-blob'
import { type Entry, type Ledger, parseLedger, toLine } from '@leasehold/example-failover'

const NAME = 'ledger.txt'

/** Entries of one grant that are written together. */
interface Batch {
  readonly token: bigint
  readonly entries: Entry[]
}

/** A blob with entries. Each write reads it and replaces it under the fencing token, with all entries that wait. */
export class BlobLedger implements Ledger {
  readonly #guard: AzureBlobGuard
  /** The entries that wait for the current write, and the end of that write. */
  #next: Batch | undefined
  #written: Promise<void> = Promise.resolve()

  constructor(container: ContainerClient) {
    this.#guard = new AzureBlobGuard(container)
  }

  write(entry: Entry): Promise<void> {
    if (this.#next?.token === entry.token) {
      this.#next.entries.push(entry)
      return this.#written
    }
    const batch = { token: entry.token, entries: [entry] }
    this.#next = batch
    this.#written = this.#written
      .catch(() => {})
      .then(() => {
        if (this.#next === batch) this.#next = undefined
        return this.#add(batch)
      })
    return this.#written
  }

  async close(): Promise<void> {
    await this.#written.catch(() => {})
  }

  // #region fenced
  async #add({ token, entries }: Batch): Promise<void> {
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
