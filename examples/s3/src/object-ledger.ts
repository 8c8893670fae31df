import { type Entry, type Ledger, parseLedger, toLine } from '@leasehold/example-failover'
import { type S3BucketOptions, S3Guard } from '@leasehold/s3'

/** Larger than all tokens of the demo. */
const LAST_TOKEN = 2n ** 62n

/** Entries of one grant that are written together. */
interface Batch {
  readonly token: bigint
  readonly entries: Entry[]
}

/** An object with entries. Each write reads it and replaces it under the fencing token, with all entries that wait. */
export class ObjectLedger implements Ledger {
  readonly #guard: S3Guard
  readonly #key: string
  /** The entries that wait for the current write, and the end of that write. */
  #next: Batch | undefined
  #written: Promise<void> = Promise.resolve()

  constructor(bucket: S3BucketOptions, key: string) {
    this.#guard = new S3Guard(bucket)
    this.#key = key
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

  /** The entries, when nobody writes any more: no older token may write afterwards. */
  async read(): Promise<readonly Entry[]> {
    const { lines } = await this.#guard.transact(this.#key, LAST_TOKEN, (ledger) => ({ lines: linesIn(ledger) }))
    return parseLedger(lines)
  }

  // #region fenced
  async #add({ token, entries }: Batch): Promise<void> {
    await this.#guard.transact(this.#key, token, (ledger) => ({
      lines: linesIn(ledger) + entries.map(toLine).join(''),
    }))
  }
  // #endregion fenced
}

function linesIn(ledger: Readonly<Record<string, unknown>> | undefined): string {
  return typeof ledger?.lines === 'string' ? ledger.lines : ''
}
