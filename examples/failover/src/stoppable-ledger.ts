import type { Entry, Ledger } from './ledger.js'

/** A ledger whose process can be stopped between two writes: a stop within a transaction would block the other processes. */
export class StoppableLedger implements Ledger {
  readonly #ledger: Ledger
  readonly #writes = new Set<Promise<void>>()
  #isStopping = false

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  async write(entry: Entry): Promise<void> {
    if (this.#isStopping) throw new Error('the process is about to be stopped')
    const write = this.#ledger.write(entry)
    this.#writes.add(write)
    try {
      await write
    } finally {
      this.#writes.delete(write)
    }
  }

  /** Stops this process, by SIGSTOP, when no write is under way. Until then, further writes are rejected. */
  async stopProcess(): Promise<void> {
    this.#isStopping = true
    await Promise.allSettled(this.#writes)
    process.kill(process.pid, 'SIGSTOP')
    this.#isStopping = false
  }

  close(): Promise<void> {
    return this.#ledger.close()
  }
}
