// #region register
import type { CasEntry, CasRecord, CasRegister, CasWritten } from '@leasehold/core'

/**
 * A compare-and-set register: what a versioned key-value store, a Kubernetes object or a blob with an ETag can do.
 * This one is a map; a real one makes a request in each method, and ends it when the signal aborts.
 */
export class MapRegister implements CasRegister<number> {
  readonly kind = 'map'
  readonly #entries = new Map<string, CasEntry<number>>()
  #version = 0

  async read(name: string, _signal: AbortSignal): Promise<CasEntry<number> | undefined> {
    return this.#entries.get(name)
  }

  async create(name: string, record: CasRecord, _signal: AbortSignal): Promise<CasWritten<number> | undefined> {
    return this.#entries.has(name) ? undefined : this.#write(name, record)
  }

  async replace(
    name: string,
    record: CasRecord,
    version: number,
    _signal: AbortSignal,
  ): Promise<CasWritten<number> | undefined> {
    return this.#entries.get(name)?.version === version ? this.#write(name, record) : undefined
  }

  #write(name: string, record: CasRecord): CasWritten<number> {
    this.#version += 1
    this.#entries.set(name, { record, version: this.#version })
    return { version: this.#version }
  }
}
// #endregion register
