// #region register
import type { CasEntry, CasRecord, CasRegister, CasWritten, StoreCall } from '@leasehold/core/store'

/**
 * A compare-and-set register, such as a versioned key-value store, a Kubernetes object or a blob with an ETag.
 * This one is a map; a real one sends a request in each method and ends it when the call is aborted.
 */
export class MapRegister implements CasRegister<number> {
  readonly kind = 'map'
  readonly #entries = new Map<string, CasEntry<number>>()
  #version = 0

  async read(name: string, _call: StoreCall): Promise<CasEntry<number> | undefined> {
    return this.#entries.get(name)
  }

  async create(name: string, record: CasRecord, _call: StoreCall): Promise<CasWritten<number> | undefined> {
    return this.#entries.has(name) ? undefined : this.#write(name, record)
  }

  async replace(
    name: string,
    record: CasRecord,
    version: number,
    _call: StoreCall,
  ): Promise<CasWritten<number> | undefined> {
    return this.#entries.get(name)?.version === version ? this.#write(name, record) : undefined
  }

  async *list(prefix: string, _call: StoreCall): AsyncGenerator<CasEntry<number> & { readonly name: string }> {
    for (const name of [...this.#entries.keys()].filter((known) => known.startsWith(prefix))) {
      const entry = this.#entries.get(name)
      if (entry !== undefined) yield { name, ...entry }
    }
  }

  #write(name: string, record: CasRecord): CasWritten<number> {
    this.#version += 1
    this.#entries.set(name, { record, version: this.#version })
    return { version: this.#version }
  }
}
// #endregion register
