import type { CasEntry, CasRecord, CasRegister, CasWritten } from '@leasehold/core/store'

/** The fault of the next call: it fails without effect, or takes effect and fails. */
type Fault = 'fail' | 'lose-answer'

/** A compare-and-set register in memory that counts its calls, deletes entries on demand and fails like a network. */
export class MapRegister implements CasRegister<number> {
  readonly kind = 'map'
  readonly forgets: boolean
  readonly calls: string[] = []
  readonly faults: Fault[] = []
  /** The wall clock of the store itself, in milliseconds. */
  time = 1_800_000_000_000
  readonly #entries = new Map<string, CasEntry<number>>()
  #version = 0

  constructor(forgets = false) {
    this.forgets = forgets
  }

  read(name: string): Promise<CasEntry<number> | undefined> {
    return this.#answer('read', () => this.#entries.get(name))
  }

  create(name: string, record: CasRecord): Promise<CasWritten<number> | undefined> {
    return this.#answer('create', () => (this.#entries.has(name) ? undefined : this.write(name, record)))
  }

  replace(name: string, record: CasRecord, version: number): Promise<CasWritten<number> | undefined> {
    return this.#answer('replace', () => {
      return this.#entries.get(name)?.version === version ? this.write(name, record) : undefined
    })
  }

  /** Writes any entry, as a test or another program would. */
  write(name: string, record: CasRecord): CasWritten<number> {
    this.#version += 1
    const createdAt = this.#entries.get(name)?.createdAt ?? this.time
    const entry = { record: structuredClone(record), version: this.#version, ...(this.forgets ? { createdAt } : {}) }
    this.#entries.set(name, entry)
    return entry
  }

  recordOf(name: string): CasRecord {
    const entry = this.#entries.get(name)
    if (entry === undefined) throw new Error(`there is no entry '${name}'`)
    return entry.record
  }

  delete(name: string): void {
    this.#entries.delete(name)
  }

  async #answer<T>(call: string, operate: () => T): Promise<T> {
    this.calls.push(call)
    const fault = this.faults.shift()
    if (fault === 'fail') throw new Error('connection refused')
    await Promise.resolve()
    const answer = operate()
    await Promise.resolve()
    if (fault === 'lose-answer') throw new Error('connection reset')
    return answer
  }
}
