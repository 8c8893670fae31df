import type { Clock, Grant } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import type { LeaseKeys } from './lease-keys.js'
import type { LeaseValue } from './lease-value.js'
import type { Sessions } from './sessions.js'
import { type SeenEntry, standingOf, tokenOf } from './standing.js'
import { lock, unchanged, unlock } from './transaction.js'

/** How long the attempt to free a broken lease may take, in milliseconds. */
const FREE_TIMEOUT = 5_000

/** A grant of this process, or a request for one whose answer may have been lost. */
interface Claim {
  readonly name: string
  readonly ttl: number
  /** The instant before its last confirmed heartbeat, or its request, was sent. */
  readonly heardAt: number
}

/**
 * Locks and writes keys under sessions, and keeps what was written for the grants of this process. The leases of a session
 * live as long as any of them has heartbeats: so this class frees the keys of those that have none.
 */
export class LeaseLocks {
  readonly #keys: LeaseKeys
  readonly #sessions: Sessions
  readonly #clock: Clock
  readonly #written = new Map<string, SeenEntry>()
  /** By grant id. */
  readonly #claims = new Map<string, Claim>()

  constructor(keys: LeaseKeys, sessions: Sessions, clock: Clock) {
    this.#keys = keys
    this.#sessions = sessions
    this.#clock = clock
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

  /** Resolves at first with the entry as this process wrote it: most operations then need no read. */
  async entryOf({ name, grantId }: Grant, isFirst: boolean, call: StoreCall): Promise<SeenEntry | undefined> {
    return (isFirst ? this.writtenFor(name, grantId) : undefined) ?? (await this.#keys.read(name, call))
  }

  keep(name: string, entry: SeenEntry): SeenEntry {
    this.#written.set(name, entry)
    return entry
  }

  /** Notes that a request for the grant is about to be sent: its answer may be lost. */
  claim(name: string, { grantId, ttl }: Pick<LeaseValue, 'grantId' | 'ttl'>): void {
    this.#claims.set(grantId, { name, ttl, heardAt: this.#clock.now() })
  }

  /** Notes that a heartbeat of the grant, sent after that instant, was confirmed. */
  heard(grantId: string, heardAt: number): void {
    const claim = this.#claims.get(grantId)
    if (claim !== undefined) this.#claims.set(grantId, { ...claim, heardAt })
  }

  /**
   * Frees the keys of grants that had no heartbeat for their ttl, before a session is renewed: the validity of their
   * holders is over. The grants in `heard` have a heartbeat now. A failure is left to the next heartbeat.
   */
  async freeSilent(call: StoreCall, heard: readonly Grant[] = []): Promise<void> {
    const now = this.#clock.now()
    const ids = new Set(heard.map(({ grantId }) => grantId))
    const silent = [...this.#claims].filter(([id, { ttl, heardAt }]) => now - heardAt > ttl && !ids.has(id))
    await Promise.allSettled(silent.map(([grantId, { name }]) => this.#free(name, grantId, call)))
  }

  /** Frees the key after the break period: other programs do not know of that. A challenger may be faster. */
  freeLater(name: string, entry: SeenEntry): void {
    const { key, session, value } = entry
    if (session === '' || value === undefined) return
    this.#clock.schedule(Math.ceil(standingOf(entry).remaining ?? 0), () => {
      const call = new AbortableCall(FREE_TIMEOUT)
      const cancel = this.#clock.schedule(FREE_TIMEOUT, () => call.abort())
      const freed = this.#keys.write(name, [unchanged(key, entry), unlock(key, session, value)], call)
      // The session ends at the latest when its process does.
      void freed.catch(() => {}).finally(cancel)
    })
  }

  async #free(name: string, grantId: string, call: StoreCall): Promise<void> {
    const entry = await this.#keys.read(name, call)
    const { session = '', value } = entry ?? {}
    // An adopter has the same grant id under a session of its own process.
    if (entry !== undefined && value?.grantId === grantId && this.#sessions.has(session)) {
      const known = { ...value, token: tokenOf(entry) }
      await this.#keys.write(name, [unchanged(entry.key, entry), unlock(entry.key, session, known)], call)
    }
    this.#claims.delete(grantId)
  }

  forget(name: string, grantId: string): void {
    this.#claims.delete(grantId)
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
    this.claim(name, value)
    await this.freeSilent(call)
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
