import type { CasEntry, CasRecord, CasRegister, CasWritten, StoreCall } from '@leasehold/core/store'
import type { SimulatedChain } from './simulated-chain.js'

// #region register
/** Leases on a chain: an entry is read, and a write is answered, when `confirmations` blocks are above it. */
export class ChainRegister implements CasRegister<string> {
  readonly kind = 'chain'
  readonly #chain: SimulatedChain
  readonly #sender: string
  readonly #confirmations: number
  #sent = 0

  constructor(chain: SimulatedChain, sender: string, confirmations: number) {
    this.#chain = chain
    this.#sender = sender
    this.#confirmations = confirmations
  }

  async read(name: string): Promise<CasEntry<string> | undefined> {
    return this.#chain.confirmed(this.#confirmations).entries.get(name)
  }

  create(name: string, record: CasRecord, call: StoreCall): Promise<CasWritten<string> | undefined> {
    return this.#write(name, record, undefined, call)
  }

  replace(name: string, record: CasRecord, version: string, call: StoreCall): Promise<CasWritten<string> | undefined> {
    return this.#write(name, record, version, call)
  }

  /** A transaction that a reorganisation has dropped has no answer: the call ends with its time limit. */
  #write(name: string, record: CasRecord, version: string | undefined, call: StoreCall) {
    this.#sent += 1
    const id = `${this.#sender} ${this.#sent}`
    this.#chain.send({ id, name, record, version })
    return new Promise<CasWritten<string> | undefined>((resolve, reject) => {
      const stop = this.#chain.onChange(() => {
        if (!this.#chain.includes(id, this.#confirmations)) return
        stop()
        forget()
        const { entries } = this.#chain.confirmed(this.#confirmations)
        resolve(entries.get(name)?.version === id ? { version: id } : undefined)
      })
      const forget = call.onAbort(() => {
        stop()
        reject(call.signal.reason)
      })
    })
  }
}
// #endregion register
