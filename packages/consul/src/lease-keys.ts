import { type Clock, LeaseConfigurationError, LeaseUnauthorisedError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { RecentMap } from '@leasehold/core/store-kit'
import { failureOf } from './failure-of.js'
import { bodyOf, type ConsulAnswer } from './http/consul-answer.js'
import { type ConsulClient, LONGEST_WAIT } from './http/consul-client.js'
import { type KeySpace, pathOf } from './key-space.js'
import { type KvEntry, toEntry } from './kv-entry.js'
import type { SeenEntry } from './standing.js'
import { get, MOST_OPERATIONS, outcomeOf, type TransactionOutcome, transaction } from './transaction.js'

/** How many keys are remembered. */
const MOST_KEYS = 10_000

/** The entry of a name, and the index from which to ask for the next one. */
interface ChangedEntry {
  readonly index: number
  readonly entry: SeenEntry | undefined
}

/** Reads and writes the keys of leases. Every read is `consistent`: the leader has made sure that it still is the leader. */
export class LeaseKeys {
  readonly space: KeySpace
  readonly #client: ConsulClient
  readonly #clock: Clock
  readonly #seen = new RecentMap<{ readonly modifyIndex: number; readonly since: number }>(MOST_KEYS)

  constructor(space: KeySpace, client: ConsulClient, clock: Clock) {
    this.space = space
    this.#client = client
    this.#clock = clock
  }

  async read(name: string, call: StoreCall): Promise<SeenEntry | undefined> {
    const key = this.space.keyOf(name)
    const answer = await this.#client.send({ method: 'GET', path: pathOf(key), query: { consistent: '' } }, call)
    return this.#entryIn(answer, `reading '${key}'`, name)
  }

  /**
   * Resolves after a change beyond the index, or after a while without one. The entry is only a hint, because any server
   * may answer: the request that follows decides.
   */
  async changed(name: string, index: number, call: StoreCall): Promise<ChangedEntry> {
    const key = this.space.keyOf(name)
    const query = { index: String(index), wait: `${LONGEST_WAIT}s` }
    const answer = await this.#client.send({ method: 'GET', path: pathOf(key), query, blocking: true }, call)
    return { index: answer.index, entry: this.#entryIn(answer, `watching '${key}'`, name) }
  }

  /** Resolves with the entries in the order of the names. Sends one request for each 64 names. */
  async readMany(names: readonly string[], call: StoreCall): Promise<readonly (SeenEntry | undefined)[]> {
    const keys = [...new Set(names)].map((name) => this.space.keyOf(name))
    const pages: string[][] = []
    for (let from = 0; from < keys.length; from += MOST_OPERATIONS) pages.push(keys.slice(from, from + MOST_OPERATIONS))
    const entries = (await Promise.all(pages.map((page) => this.#readPage(page, call)))).flat()
    const byKey = new Map(entries.map((entry) => [entry.key, entry]))
    return names.map((name) => byKey.get(this.space.keyOf(name)))
  }

  async *list(prefix: string, call: StoreCall): AsyncGenerator<SeenEntry & { readonly name: string }> {
    const query = { recurse: '', consistent: '' }
    const answer = await this.#client.send({ method: 'GET', path: pathOf(this.space.prefix), query }, call)
    if (answer.status === 404 && answer.text === '') return
    const parts = bodyOf(answer)
    if (answer.status !== 200 || !Array.isArray(parts)) throw failureOf('listing the leases', undefined, answer)
    for (const part of parts) {
      const entry = toEntry(part)
      const name = entry && this.space.nameOf(entry.key)
      if (entry !== undefined && name?.startsWith(prefix)) yield { ...this.see(entry), name }
    }
  }

  /** Resolves with the entries that were written, or with the reason for which certainly nothing was written. */
  async write(name: string, operations: readonly string[], call: StoreCall): Promise<TransactionOutcome> {
    const answer = await this.#client.send({ method: 'PUT', path: '/txn', body: transaction(operations) }, call)
    const outcome = outcomeOf(answer)
    if (outcome === undefined) throw failureOf(`writing '${this.space.keyOf(name)}'`, name, answer)
    if (outcome.applied) for (const entry of outcome.entries) this.see(entry)
    return outcome
  }

  /** Notes for how long this process has seen the key unchanged, on its own clock. */
  see(entry: KvEntry): SeenEntry {
    const { key, modifyIndex } = entry
    const now = this.#clock.now()
    const seen = this.#seen.get(key)
    if (seen?.modifyIndex === modifyIndex) return { ...entry, unchanged: now - seen.since }
    this.#seen.set(key, { modifyIndex, since: now })
    return { ...entry, unchanged: 0 }
  }

  /** Throws a `LeaseConfigurationError` if the key is used for anything else than a lock. */
  checkIsLock(name: string, entry: KvEntry): void {
    if (entry.isLock || entry.value !== undefined) return
    throw new LeaseConfigurationError(
      `the key '${entry.key}' holds other data than a lease: give the store a prefix of its own, or delete the key`,
      { store: 'consul', leaseName: name },
    )
  }

  #entryIn(answer: ConsulAnswer, operation: string, name: string): SeenEntry | undefined {
    if (answer.status === 404 && answer.text === '') return undefined
    const parts = bodyOf(answer)
    const entry = answer.status === 200 && Array.isArray(parts) ? toEntry(parts[0]) : undefined
    if (entry === undefined) throw failureOf(operation, name, answer)
    return this.see(entry)
  }

  /** Reads the keys in a transaction. It fails if one of them is missing, and is then repeated without that key. */
  async #readPage(keys: readonly string[], call: StoreCall): Promise<readonly SeenEntry[]> {
    let present = keys
    while (present.length > 0) {
      const body = transaction(present.map(get))
      const answer = await this.#client.send({ method: 'PUT', path: '/txn', query: { consistent: '' }, body }, call)
      const outcome = outcomeOf(answer)
      if (outcome?.applied) {
        const entries = outcome.entries.map((entry) => this.see(entry))
        // The agent leaves out keys that the token must not read.
        if (entries.length === present.length) return entries
        const message = 'the token must not read the keys of the leases: it needs key:write on their prefix'
        throw new LeaseUnauthorisedError(message, { store: 'consul', cause: answer })
      }
      if (outcome?.reason !== 'changed') throw failureOf('reading the leases', undefined, answer)
      const { failed } = outcome
      present = present.filter((_, place) => !failed.includes(place))
    }
    return []
  }
}
