import type { Entry, Ledger } from './ledger.js'

/** Entries of one grant that are written together. */
interface Batch {
  readonly token: bigint
  readonly entries: Entry[]
}

/** A ledger that writes all entries that wait together, one write at a time. */
export abstract class BatchedLedger implements Ledger {
  /** The entries that wait for the current write, and the end of that write. */
  #next: Batch | undefined
  #written: Promise<void> = Promise.resolve()

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
        return this.append(batch.token, batch.entries)
      })
    return this.#written
  }

  async close(): Promise<void> {
    await this.#written.catch(() => {})
  }

  /** Rejects with a `LeaseLostError` and writes nothing if a larger token was used before. */
  protected abstract append(token: bigint, entries: readonly Entry[]): Promise<void>
}
