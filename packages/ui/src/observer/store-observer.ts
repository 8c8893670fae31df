import {
  isLocked,
  LeaseConfigurationError,
  LeaseError,
  type LeaseRecord,
  type LeaseStore,
  LeaseTimeoutError,
  listLeases,
  readLease,
} from '@leasehold/core'
import { Alarm, logSafely, Outage, reasonOf } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { backoff, pause, systemRandom, wallTime } from '@leasehold/core/store-kit'
import type { CheckedUiOptions } from '../checked-options.js'
import type { ErrorBody, Freshness, LeaseRow, RecipeViews, UiFinding } from '../protocol.js'
import { RecipeObserver, type SeenRecipes } from '../recipes/recipe-observer.js'
import { LeaseList } from './lease-list.js'
import { endless, rowOf } from './lease-row.js'
import { NameWatches } from './name-watches.js'

/** How many intervals lie between two listings while nobody looks. */
const IDLE_INTERVALS = 10

/** A listing takes at most this part of the time, so that a long list does not keep the store and this process busy. */
const LISTING_SHARE = 0.2

/** The longest time of one listing, in milliseconds: a store may answer slowly for each record. */
const LONGEST_LISTING = 60_000

/** How many names a page can have. */
const MOST_NAMES = 100_000

/** How many records are taken at a time, so that others of the process get their turn. */
const RECORDS_AT_A_TIME = 500

/** Who is told of what the observer sees. */
export interface ObserverListener {
  /** Rows or views may have changed. */
  onChange(): void
  /** The store was read, or not. */
  onFreshness(): void
}

/**
 * Looks at the store: it lists it in each interval while somebody looks, and in each tenth while nobody does. It begins with
 * `start`, and keeps no process alive. One listing is in progress at a time.
 */
export class StoreObserver {
  readonly list: LeaseList
  readonly #store: LeaseStore
  readonly #options: CheckedUiOptions
  readonly #listener: ObserverListener
  readonly #recipes: RecipeObserver
  readonly #watches: NameWatches
  readonly #closing = new AbortableCall()
  readonly #alarm: Alarm
  readonly #outage = new Outage()
  #seen: SeenRecipes | undefined
  #isStarted = false
  #readers = 0
  #failures = 0
  /** When the last listing that was complete has begun, on the clock. */
  #listedAt: number | undefined
  #error: ErrorBody | undefined
  #observedSince = 0

  constructor(store: LeaseStore, options: CheckedUiOptions, listener: ObserverListener) {
    this.#store = store
    this.#options = options
    this.#listener = listener
    this.list = new LeaseList(options.clock)
    this.#recipes = new RecipeObserver(store)
    this.#alarm = new Alarm(options.clock, this.#closing)
    this.#watches = new NameWatches(store, options, this.#closing, (name, record) => this.#take(name, record))
  }

  /** Begins to look; no effect if it does already. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#observedSince = this.wall()
    void this.#observe()
  }

  /** Lists the store at once, or again if it is being listed. */
  refresh(): void {
    this.#alarm.ring()
  }

  /** Somebody looks. Returns a function for the end of it. */
  addReader(): () => void {
    this.#readers += 1
    const { interval, clock } = this.#options
    if (this.#readers === 1 && this.#isStarted && clock.now() - (this.#listedAt ?? 0) > interval) this.refresh()
    return () => {
      this.#readers -= 1
    }
  }

  /** Looks at one name more closely. Returns a function that ends it. */
  watch(name: string): () => void {
    return this.#watches.add(name)
  }

  /** Reads one record now. */
  async read(name: string): Promise<LeaseRecord | undefined> {
    const { timeout, clock } = this.#options
    const signal = this.#closing.signal
    const record = await readLease(this.#store, name, { timeout, clock, signal, keepAlive: false })
    this.#take(name, record)
    return record
  }

  /** The row of a record that was just read. */
  rowOf(record: LeaseRecord): LeaseRow {
    const { remaining } = record
    const row = rowOf(record, this.list.firstSeenOf(record) ?? this.wall(), this.#seen?.recipeOf(record.name))
    return isLocked(record) && remaining !== undefined ? { ...row, remaining: endless(remaining) } : row
  }

  /** Nothing was found yet. */
  readonly findings: readonly UiFinding[] = []

  /** Whether the store was listed once. */
  get isListed(): boolean {
    return this.#listedAt !== undefined
  }

  get observedSince(): number {
    return this.#observedSince
  }

  get freshness(): Freshness {
    const now = this.#options.clock.now()
    const age = this.#listedAt === undefined ? 0 : Math.max(0, Math.round(now - this.#listedAt))
    return { age, ...(this.#error !== undefined && { error: this.#error }) }
  }

  get views(): RecipeViews | undefined {
    return this.#seen?.views
  }

  relatedTo(name: string): readonly string[] {
    return this.#seen?.relatedTo(name) ?? []
  }

  /** Milliseconds since 1970. */
  wall(): number {
    const wall = this.#options.clock.wall?.()
    return Math.round(wall === undefined || !Number.isFinite(wall) ? wallTime() : wall)
  }

  close(): void {
    this.#closing.abort(new Error('the page was closed'))
  }

  async #observe(): Promise<void> {
    const { clock } = this.#options
    while (!this.#closing.aborted) {
      const startedAt = clock.now()
      await this.#lookOnce(startedAt)
      if (this.#closing.aborted) return
      await this.#alarm.wait(this.#nextAfter(startedAt))
    }
  }

  /** When the next listing begins, after one that has just ended. */
  #nextAfter(startedAt: number): number {
    const { clock, interval } = this.#options
    const now = clock.now()
    const usual = (this.#readers > 0 ? 1 : IDLE_INTERVALS) * interval
    if (this.#failures > 0) {
      return now + Math.max(usual, backoff(this.#failures - 1, interval, IDLE_INTERVALS * interval, systemRandom))
    }
    return Math.max(startedAt + usual, startedAt + (now - startedAt) / LISTING_SHARE)
  }

  async #lookOnce(startedAt: number): Promise<void> {
    try {
      const records = await this.#listing()
      if (this.#closing.aborted) return
      this.#apply(records, startedAt)
      this.#onListed(startedAt)
    } catch (error) {
      if (this.#closing.aborted) return
      this.#onFailed(error)
    }
    this.#listener.onChange()
    this.#listener.onFreshness()
  }

  async #listing(): Promise<Map<string, LeaseRecord>> {
    const { clock, timeout, prefix } = this.#options
    const limit = new AbortController()
    const unlisten = this.#closing.onAbort(() => limit.abort(this.#closing.signal.reason))
    const longest = Math.max(timeout, LONGEST_LISTING)
    const cancel = clock.schedule(longest, () => {
      limit.abort(
        new LeaseTimeoutError(`the store was not listed within ${longest} ms: set prefix, to list a part of it`),
      )
    })
    const records = new Map<string, LeaseRecord>()
    try {
      const options = { timeout, clock, signal: limit.signal, keepAlive: false }
      let count = 0
      for await (const record of listLeases(this.#store, prefix, options)) {
        // A store of the user may list others, too.
        if (record.name.startsWith(prefix)) records.set(record.name, record)
        if (records.size > MOST_NAMES) throw tooMany()
        count += 1
        if (count % RECORDS_AT_A_TIME === 0) await pause(clock, 0, this.#closing)
      }
    } finally {
      cancel()
      unlisten()
    }
    return records
  }

  #apply(records: ReadonlyMap<string, LeaseRecord>, startedAt: number): void {
    const wall = this.wall()
    const seen = this.#recipes.onListing([...records.values()], wall)
    this.#seen = seen
    for (const name of this.list.names()) {
      if (!records.has(name) && this.list.readAtOf(name) <= startedAt) this.list.delete(name)
    }
    for (const [name, record] of records) {
      // The record that was read alone is newer, or will be corrected by the next listing.
      if (this.list.readAtOf(name) <= startedAt) this.list.set(record, seen.recipeOf(name), wall)
    }
  }

  /** Takes a record that was read alone. */
  #take(name: string, record: LeaseRecord | undefined): void {
    // The whole list comes first, so that a page does not show one name as all of them.
    if (!this.isListed) return
    if (record === undefined) this.list.delete(name)
    else this.list.set(record, this.#seen?.recipeOf(name), this.wall())
    this.#listener.onChange()
  }

  #onListed(startedAt: number): void {
    this.#listedAt = startedAt
    this.#error = undefined
    if (this.#failures === 0) return
    this.#failures = 0
    if (this.#outage.end()) logSafely(this.#options.logger, 'info', 'LeaseUi: the store was listed again')
  }

  #onFailed(error: unknown): void {
    const { logger, clock } = this.#options
    if (this.#failures === 0) this.#outage.begin()
    this.#failures += 1
    this.#error =
      error instanceof LeaseError
        ? { code: error.code, message: error.message }
        : { code: 'unavailable', message: 'the store could not be listed: see the log of the server' }
    if (this.#outage.isDue(clock.now())) {
      logSafely(logger, 'warn', `LeaseUi: the store cannot be listed: ${reasonOf(error)}`)
    }
  }
}

function tooMany(): LeaseConfigurationError {
  return new LeaseConfigurationError(
    `the store has more than ${MOST_NAMES} leases here: set prefix, to show a part of them`,
  )
}
