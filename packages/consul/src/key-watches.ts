import { type Clock, LeaseConfigurationError, type LeaseRecord, LeaseUnauthorisedError } from '@leasehold/core'
import { AbortableCall, pause, type StoreCall } from '@leasehold/core/store'
import { type ChangedEntry, type LeaseKeys, LONGEST_WAIT } from './lease-keys.js'
import { type SeenEntry, standingOf } from './standing.js'

/** After this time without an answer, the connection is dead. Milliseconds. */
const SILENCE = LONGEST_WAIT * 1_000 * (1 + 1 / 16) + 5_000

/** While the name stays free, the next waiter of this process is notified after this time, in milliseconds. */
const NEXT_WAITER = 200

/** The pauses after a failed query, in milliseconds; half of each is random. */
const FIRST_PAUSE = 100
const LONGEST_PAUSE = 5_000

/** The watches of names. All waiters of this process for one name share one blocking query. */
export class KeyWatches {
  readonly #keys: LeaseKeys
  readonly #clock: Clock
  readonly #names = new Map<string, KeyWatch>()
  #isClosed = false

  constructor(keys: LeaseKeys, clock: Clock) {
    this.#keys = keys
    this.#clock = clock
  }

  /** Yields when the name may be free and it is the turn of this waiter of the process, until the call is aborted. */
  async *watch(name: string, call: StoreCall): AsyncGenerator<LeaseRecord | undefined> {
    let isNotified = false
    let wake = (): void => {}
    const waiter = (): void => {
      isNotified = true
      wake()
    }
    const unlisten = call.onAbort(() => wake())
    const watched = this.#names.get(name) ?? this.#begin(name)
    watched.add(waiter)
    const isOver = (): boolean => call.aborted || this.#isClosed
    try {
      while (!isOver()) {
        if (!isNotified && watched.failure === undefined) await new Promise<void>((resolve) => (wake = resolve))
        if (isOver()) return
        if (watched.failure !== undefined) throw watched.failure
        if (isNotified) yield undefined
        isNotified = false
      }
    } finally {
      unlisten()
      watched.remove(waiter)
      if (watched.isIdle && this.#names.get(name) === watched) this.#names.delete(name)
    }
  }

  close(): void {
    this.#isClosed = true
    for (const watched of this.#names.values()) watched.end()
  }

  #begin(name: string): KeyWatch {
    const watched = new KeyWatch(name, this.#keys, this.#clock)
    this.#names.set(name, watched)
    void watched.follow()
    return watched
  }
}

/** One name, its waiters in the order in which they came, and the query that they share. */
class KeyWatch {
  /** A refusal that trying again does not change: it ends the watch. */
  failure: Error | undefined
  readonly #name: string
  readonly #keys: LeaseKeys
  readonly #clock: Clock
  readonly #waiters = new Set<() => void>()
  readonly #ended = new AbortableCall()
  #cancelTurn = (): void => {}
  #wasHeld = false

  constructor(name: string, keys: LeaseKeys, clock: Clock) {
    this.#name = name
    this.#keys = keys
    this.#clock = clock
  }

  get isIdle(): boolean {
    return this.#waiters.size === 0
  }

  add(waiter: () => void): void {
    this.#waiters.add(waiter)
  }

  remove(waiter: () => void): void {
    this.#waiters.delete(waiter)
    if (this.isIdle) this.end()
  }

  end(): void {
    this.#ended.abort()
    this.#cancelTurn()
    for (const waiter of this.#waiters) waiter()
  }

  async follow(): Promise<void> {
    let index = 0
    let failures = 0
    while (!this.#ended.aborted) {
      try {
        const answer = await this.#ask(index)
        // After a restore of the servers, the index may be smaller: the query then starts again.
        const isNews = answer.index !== index || index === 0
        index = answer.index < index ? 0 : Math.max(answer.index, 1)
        failures = 0
        if (isNews) this.#onEntry(answer.entry)
      } catch (error) {
        if (this.#ended.aborted) return
        if (error instanceof LeaseUnauthorisedError || error instanceof LeaseConfigurationError) {
          this.failure = error
          this.end()
          return
        }
        index = 0
        failures += 1
        const longest = Math.min(FIRST_PAUSE * 2 ** Math.min(failures, 16), LONGEST_PAUSE)
        await pause(this.#clock, longest * (0.5 + 0.5 * Math.random()), this.#ended).catch(() => {})
      }
    }
  }

  async #ask(index: number): Promise<ChangedEntry> {
    const call = new AbortableCall()
    const unlisten = this.#ended.onAbort(() => call.abort())
    const cancel = this.#clock.schedule(SILENCE, () => call.abort(new Error('the agent was silent')))
    try {
      return await this.#keys.changed(this.#name, index, call)
    } finally {
      cancel()
      unlisten()
    }
  }

  #onEntry(entry: SeenEntry | undefined): void {
    this.#cancelTurn()
    const lockedFor = entry === undefined ? 0 : this.#lockedFor(entry)
    this.#wasHeld = entry !== undefined && entry.session !== ''
    if (lockedFor === Number.POSITIVE_INFINITY) return
    if (lockedFor === 0) this.#notify([...this.#waiters])
    else this.#notifyAfter(lockedFor, [...this.#waiters])
  }

  /** The lock-delay begins when the session ends: nothing announces its end. */
  #lockedFor(entry: SeenEntry): number {
    const { state, remaining } = standingOf(entry)
    if (state === 'leased' || state === 'breaking') return remaining ?? Number.POSITIVE_INFINITY
    return state === 'expired' && this.#wasHeld ? (entry.value?.lockDelay ?? 0) : 0
  }

  /** One after the other: the first one is usually granted the name, and the next entry then shows it. */
  #notify([first, ...others]: readonly (() => void)[]): void {
    if (first === undefined) return
    if (this.#waiters.has(first)) first()
    if (others.length > 0) this.#notifyAfter(NEXT_WAITER, others)
  }

  #notifyAfter(delay: number, waiters: readonly (() => void)[]): void {
    this.#cancelTurn = this.#clock.schedule(Math.ceil(delay), () => this.#notify(waiters))
  }
}
