import type { Grant } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import type { LeaseKeys } from './lease-keys.js'
import type { LeaseValue } from './lease-value.js'
import type { Sessions } from './sessions.js'
import type { SeenEntry } from './standing.js'
import { lock, unchanged, unlock } from './transaction.js'

/** Locks and writes keys under sessions, and keeps what was written for the grants of this process. */
export class LeaseLocks {
  readonly #keys: LeaseKeys
  readonly #sessions: Sessions
  readonly #written = new Map<string, SeenEntry>()

  constructor(keys: LeaseKeys, sessions: Sessions) {
    this.#keys = keys
    this.#sessions = sessions
  }

  /** The sessions of the grants of this process. */
  get sessions(): ReadonlySet<string> {
    return new Set([...this.#written.values()].map(({ session }) => session))
  }

  /** The entry as this process wrote it last, if it wrote it for this grant. */
  writtenFor(name: string, grantId: string | undefined): SeenEntry | undefined {
    const written = this.#written.get(name)
    return grantId !== undefined && written?.value?.grantId === grantId ? written : undefined
  }

  /** At first the entry as this process wrote it: most operations then need no read. */
  async entryOf({ name, grantId }: Grant, isFirst: boolean, call: StoreCall): Promise<SeenEntry | undefined> {
    return (isFirst ? this.writtenFor(name, grantId) : undefined) ?? (await this.#keys.read(name, call))
  }

  keep(name: string, entry: SeenEntry): SeenEntry {
    this.#written.set(name, entry)
    return entry
  }

  forget(name: string, grantId: string): void {
    if (this.writtenFor(name, grantId) !== undefined) this.#written.delete(name)
  }

  /**
   * Writes the value under the session of this process for its ttl, which takes the key over from another session.
   * Resolves with the entry. `undefined`: another writer was faster, or the session had ended; nothing is held then.
   * `delayed`: a lock-delay is in force.
   */
  async take(
    name: string,
    entry: SeenEntry | undefined,
    value: LeaseValue,
    call: StoreCall,
  ): Promise<SeenEntry | 'delayed' | undefined> {
    const { id, isNew } = await this.#sessions.current(value.ttl, call)
    const key = this.#keys.space.keyOf(name)
    const from = entry?.session ?? ''
    const freed = from === '' || from === id ? [] : [unlock(key, from, value)]
    const operations = [unchanged(key, entry), ...freed, lock(key, id, value)]
    const [outcome, isAlive] = await Promise.all([
      this.#keys.write(name, operations, call),
      isNew ? true : this.#sessions.renew(id, call),
    ])
    const isEnded = !isAlive || (!outcome.applied && outcome.reason === 'session')
    if (isEnded) this.#sessions.forget(id)
    if (!outcome.applied && outcome.reason === 'delayed') return 'delayed'
    const written = outcome.applied ? outcome.entries.at(-1) : undefined
    if (isEnded || written === undefined) return undefined
    return this.keep(name, { ...this.#keys.see(written), value })
  }

  /** Changes a held key, conditional on the entry as it was read. `undefined`: another writer was faster. */
  async write(
    name: string,
    entry: SeenEntry,
    change: typeof lock,
    value: LeaseValue,
    call: StoreCall,
  ): Promise<SeenEntry | undefined> {
    const { key, session } = entry
    const outcome = await this.#keys.write(name, [unchanged(key, entry), change(key, session, value)], call)
    const written = outcome.applied ? outcome.entries.at(-1) : undefined
    return written && this.keep(name, { ...this.#keys.see(written), value })
  }
}
