import { randomUUID } from 'node:crypto'
import { type Clock, isLocked, LeaseConfigurationError, LeaseUnauthorisedError } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { backoff, MessageListeners, pause } from '@leasehold/core/store-kit'
import type { LeaseKeys } from './lease-keys.js'
import { type SeenEntry, standingOf } from './standing.js'

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
  readonly #random: () => number
  readonly #messages: MessageListeners

  constructor(keys: LeaseKeys, clock: Clock, random: () => number) {
    this.#keys = keys
    this.#clock = clock
    this.#random = random
    this.#messages = new MessageListeners(clock)
  }

  /**
   * Yields when the name may be free and it is the turn of this waiter of the process, and when its grant id is that of the
   * record, until the call is aborted.
   */
  async *watch(name: string, call: StoreCall, grantId?: string): AsyncGenerator<undefined> {
    const current = this.#names.get(name)
    const watched = current === undefined || current.hasEnded ? this.#begin(name) : current
    const waiter = randomUUID()
    watched.add(waiter, grantId)
    try {
      for await (const _ of this.#messages.listen(waiter, call)) {
        if (watched.failure !== undefined) throw watched.failure
        yield undefined
      }
    } finally {
      watched.remove(waiter)
      if (watched.hasEnded && this.#names.get(name) === watched) this.#names.delete(name)
    }
  }

  close(): void {
    this.#messages.close()
    for (const watched of this.#names.values()) watched.end()
  }

  #begin(name: string): KeyWatch {
    const watched = new KeyWatch(name, this.#keys, this.#clock, this.#random, this.#messages)
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
  readonly #random: () => number
  readonly #messages: MessageListeners
  /** Their ids, with the grant ids under which they ask. */
  readonly #waiters = new Map<string, string | undefined>()
  /** The grant id in the record as last seen. */
  #grantId: string | undefined
  readonly #ended = new AbortableCall()
  #cancelTurn = (): void => {}
  #wasHeld = false

  /** `messages`: a waiter gets a message under its own id when it is its turn. */
  constructor(name: string, keys: LeaseKeys, clock: Clock, random: () => number, messages: MessageListeners) {
    this.#name = name
    this.#keys = keys
    this.#clock = clock
    this.#random = random
    this.#messages = messages
  }

  get hasEnded(): boolean {
    return this.#ended.aborted
  }

  add(waiter: string, grantId: string | undefined): void {
    this.#waiters.set(waiter, grantId)
    if (grantId !== undefined && grantId === this.#grantId) this.#messages.notify(waiter)
  }

  remove(waiter: string): void {
    this.#waiters.delete(waiter)
    if (this.#waiters.size === 0) this.end()
  }

  end(): void {
    this.#ended.abort()
    this.#cancelTurn()
    for (const waiter of this.#waiters.keys()) this.#messages.notify(waiter)
  }

  async follow(): Promise<void> {
    let index = 0
    let failures = 0
    while (!this.#ended.aborted) {
      try {
        const answer = await this.#keys.changed(this.#name, index, this.#ended)
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
        const wait = backoff(failures, FIRST_PAUSE, LONGEST_PAUSE, this.#random)
        await pause(this.#clock, wait, this.#ended).catch(() => {})
      }
    }
  }

  #onEntry(entry: SeenEntry | undefined): void {
    this.#cancelTurn()
    const lockedFor = entry === undefined ? 0 : this.#lockedFor(entry)
    this.#wasHeld = entry !== undefined && entry.session !== ''
    this.#onGrantId(entry?.value?.grantId)
    if (lockedFor === Number.POSITIVE_INFINITY) return
    if (lockedFor === 0) this.#notify([...this.#waiters.keys()])
    else this.#notifyAfter(lockedFor, [...this.#waiters.keys()])
  }

  /** The holder passes the lease on by a change of the grant id. */
  #onGrantId(grantId: string | undefined): void {
    if (grantId === this.#grantId) return
    this.#grantId = grantId
    if (grantId === undefined) return
    for (const [waiter, asksUnder] of this.#waiters) if (asksUnder === grantId) this.#messages.notify(waiter)
  }

  /** Returns for how long the name stays locked. The lock-delay begins when the session ends: nothing announces its end. */
  #lockedFor(entry: SeenEntry): number {
    const standing = standingOf(entry)
    if (isLocked(standing)) return standing.remaining ?? Number.POSITIVE_INFINITY
    return standing.state === 'expired' && this.#wasHeld ? (entry.value?.lockDelay ?? 0) : 0
  }

  /** Notifies one after the other: the first one is usually granted the name, and the next entry then shows it. */
  #notify([first, ...others]: readonly string[]): void {
    if (first === undefined) return
    if (this.#waiters.has(first)) this.#messages.notify(first)
    if (others.length > 0) this.#notifyAfter(NEXT_WAITER, others)
  }

  #notifyAfter(delay: number, waiters: readonly string[]): void {
    this.#cancelTurn = this.#clock.schedule(Math.ceil(delay), () => this.#notify(waiters))
  }
}
