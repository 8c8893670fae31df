import type { CasEntry, CasRecord, CasRegister, CasWritten, StoreCall } from '@leasehold/core/store'
import type { MysqlOptions } from './mysql-options.js'

/**
 * The storage: one entry for each lease name, written only if its version is still the one that was read. Each method is
 * atomic for one name, rejects when it does not know its outcome, and ends when the call is aborted.
 */
export class MysqlRegister implements CasRegister<number> {
  readonly kind = 'mysql'
  readonly #options: Partial<MysqlOptions>

  constructor(options: Partial<MysqlOptions>) {
    this.#options = options
  }

  async read(_name: string, _call: StoreCall): Promise<CasEntry<number> | undefined> {
    throw new Error(`read() of ${this.#options.path} is missing: return the entry as last written, or undefined`)
  }

  async create(_name: string, _record: CasRecord, _call: StoreCall): Promise<CasWritten<number> | undefined> {
    throw new Error('create() is missing: write the record if there is no entry, else return undefined')
  }

  async replace(
    _name: string,
    _record: CasRecord,
    _version: number,
    _call: StoreCall,
  ): Promise<CasWritten<number> | undefined> {
    throw new Error('replace() is missing: write the record if the entry has this version, else return undefined')
  }

  list(_prefix: string, _call: StoreCall): AsyncIterable<CasEntry<number> & { readonly name: string }> {
    throw new Error('list() is missing: yield the entry of every name that starts with the prefix')
  }

  /** The time by the clock of the backend, in milliseconds: fencing tokens then outlast a deletion and a restore. */
  async timeAfter(_name: string, _version: number, _call: StoreCall): Promise<number> {
    throw new Error('timeAfter() is missing: return the time of the backend')
  }
}
