import {
  isLocked,
  LeaseConfigurationError,
  LeaseError,
  type LeaseRecord,
  type LeaseStore,
  LeaseTimeoutError,
  LeaseUnavailableError,
  listLeases,
  readLease,
} from '@leasehold/core'
import { Alarm, logSafely, Outage, reasonOf } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { backoff, pause, systemRandom, wallTime } from '@leasehold/core/store-kit'
import type { CheckedUiOptions } from '../checked-options.js'
import { LeaseFindings } from '../findings/lease-findings.js'
import { LeaseHistory } from '../history/lease-history.js'
import type {
  ErrorBody,
  Freshness,
  HistoryAnswer,
  HistoryRequest,
  LeaseRow,
  RecipeViews,
  UiFinding,
} from '../protocol.js'
import { RecipeObserver, type SeenRecipes } from '../recipes/recipe-observer.js'
import { LeaseList } from './lease-list.js'
import { endless, rowOf } from './lease-row.js'
import { NameWatches } from './name-watches.js'

/** How many intervals lie between two listings while nobody looks. */
const IDLE_INTERVALS = 10

/** A listing takes at most this part of the time, so that a long list does not keep the store and this process busy. */
const LISTING_SHARE = 0.5

/** How often the store is asked whether it keeps the conditions of leases, in milliseconds. */
const PROBE_INTERVAL = 600_000

/** After this many times the pause that was planned, the server has not looked in between. */
const LATE = 3

/** The longest time of one listing, in milliseconds: a store may answer slowly for each record. */
const LONGEST_LISTING = 60_000

/** How many names a page can have. */
const MOST_NAMES = 100_000

/** How many records are taken at a time, so that others of the process get their turn. */
const RECORDS_AT_A_TIME = 1_000

/** Hears of the changes that the observer sees. */
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
  readonly #history: LeaseHistory
  readonly #findings: LeaseFindings
  readonly #watches: NameWatches
  readonly #closing = new AbortableCall()
  readonly #alarm: Alarm
  readonly #outage = new Outage()
  #seen: SeenRecipes | undefined
  #isStarted = false
  #startedAt = 0
  #readers = 0
  /** Whether the store is to be listed at once. */
  #isAsked = false
  #failures = 0
  /** When the last listing that was complete has begun, on the clock. */
  #listedAt: number | undefined
  #error: ErrorBody | undefined
  #observedSince = 0
  #probeAt = Number.NEGATIVE_INFINITY
  /** How long it was to be from the last listing to the next one. */
  #pause = 0

  constructor(store: LeaseStore, options: CheckedUiOptions, listener: ObserverListener) {
    this.#store = store
    this.#options = options
    this.#listener = listener
    this.list = new LeaseList(options.clock)
    this.#recipes = new RecipeObserver(store)
    this.#history = new LeaseHistory(options.historyFor)
    this.#findings = new LeaseFindings(store, (name) => this.read(name))
    this.#alarm = new Alarm(options.clock, this.#closing)
    this.#watches = new NameWatches(store, options, this.#closing, (name, record) => this.#take(name, record))
  }

  /** Begins to look; no effect if it does already. */
  start(): void {
    if (this.#isStarted) return
    this.#isStarted = true
    this.#startedAt = this.#options.clock.now()
    this.#observedSince = this.wall()
    this.#history.begin(this.#observedSince)
    this.#findings.own.begin()
    void this.#observe()
  }

  /** Lists the store at once, or again if it is being listed. */
  refresh(): void {
    this.#isAsked = true
    this.#alarm.ring()
  }

  /** Somebody looks. Returns a function for the end of it. */
  addReader(): () => void {
    this.#readers += 1
    if (this.#readers === 1) this.#alarm.ring()
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

  /** The findings: another list whenever they change. */
  get findings(): readonly UiFinding[] {
    return this.#findings.all
  }

  historyOf(request: HistoryRequest): HistoryAnswer {
    return this.#history.answer(request)
  }

  /** Whether the store was listed once. */
  get isListed(): boolean {
    return this.#listedAt !== undefined
  }

  get observedSince(): number {
    return this.#observedSince
  }

  get freshness(): Freshness {
    // Without a list, it counts from the first look.
    const since = this.#listedAt ?? this.#startedAt
    const age = Math.max(0, Math.round(this.#options.clock.now() - since))
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
    this.#closing.abort(new LeaseUnavailableError('the page was closed: open it again when the server has started'))
    this.#findings.own.end()
  }

  async #observe(): Promise<void> {
    const { clock } = this.#options
    while (!this.#closing.aborted) {
      const startedAt = clock.now()
      this.#isAsked = false
      if (startedAt >= this.#probeAt) this.#probe(startedAt)
      await this.#lookOnce(startedAt)
      if (this.#closing.aborted) return
      await this.#untilNext(startedAt, clock.now())
    }
  }

  /** Waits until the next listing is due, also if somebody begins to look meanwhile. */
  async #untilNext(startedAt: number, endedAt: number): Promise<void> {
    const { clock } = this.#options
    // The longest one that was planned: a reader that comes makes it shorter.
    let pause = 0
    while (!this.#closing.aborted && !this.#isAsked) {
      const next = this.#nextAfter(startedAt, endedAt)
      pause = Math.max(pause, next - startedAt)
      this.#pause = pause
      if (clock.now() >= next) return
      await this.#alarm.wait(next)
    }
  }

  /** When the next listing begins, after one from `startedAt` to `endedAt`. */
  #nextAfter(startedAt: number, endedAt: number): number {
    const { interval } = this.#options
    const usual = (this.#readers > 0 ? 1 : IDLE_INTERVALS) * interval
    if (this.#failures > 0) {
      return endedAt + Math.max(usual, backoff(this.#failures - 1, interval, IDLE_INTERVALS * interval, systemRandom))
    }
    return startedAt + Math.max(usual, (endedAt - startedAt) / LISTING_SHARE)
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

  /** Asks the store in the background whether it keeps the conditions of leases. */
  #probe(now: number): void {
    this.#probeAt = now + PROBE_INTERVAL
    const { timeout, clock } = this.#options
    const options = { timeout, clock, signal: this.#closing.signal, keepAlive: false }
    void this.#findings.probe(options, () => this.wall()).then(() => this.#listener.onChange())
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
        if (record.name.startsWith(prefix)) records.set(record.name, record)
        else this.#findings.onForeign(record.name, prefix, this.wall())
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
      if (!records.has(name) && this.list.readAtOf(name) <= startedAt) this.#see(name, undefined, wall)
    }
    for (const [name, record] of records) {
      // The record that was read alone is newer, or will be corrected by the next listing.
      if (this.list.readAtOf(name) <= startedAt) this.#see(name, record, wall)
    }
    this.#history.onListed(wall, LATE * Math.max(this.#pause, this.#options.interval))
    this.#findings.seeOwn((name) => this.list.recordOf(name))
    this.#findings.forget(wall)
    void this.#findings
      .confirm(() => this.wall())
      .then((hasChanged) => {
        if (hasChanged) this.#listener.onChange()
      })
  }

  #see(name: string, record: LeaseRecord | undefined, wall: number): void {
    const { endOf } = this.#findings.own
    if (record === undefined) {
      this.list.delete(name)
      this.#history.seeGone(name, wall, endOf)
      return
    }
    this.list.set(record, this.#seen?.recipeOf(name), wall)
    this.#history.see(record, wall, endOf)
    this.#findings.see(record, wall)
  }

  /** Takes a record that was read alone. */
  #take(name: string, record: LeaseRecord | undefined): void {
    // The whole list comes first, so that a page does not show one name as all of them.
    if (!this.isListed) return
    this.#see(name, record, this.wall())
    this.#listener.onChange()
  }

  #onListed(startedAt: number): void {
    this.#listedAt = startedAt
    this.#error = undefined
    if (this.#failures === 0) return
    this.#failures = 0
    if (this.#outage.end(this)) logSafely(this.#options.logger, 'info', 'LeaseUi: the store was listed again')
  }

  #onFailed(error: unknown): void {
    const { logger, clock } = this.#options
    if (this.#failures === 0) this.#outage.begin(this)
    this.#failures += 1
    this.#history.onBlind()
    this.#findings.onError(error, this.wall())
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
