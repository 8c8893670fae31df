import { isLocked, type LeaseRecord } from '@leasehold/core'
import { Alarm, onSignal } from '@leasehold/core/internal'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import type { SlotKey, Turnstile } from './turnstile.js'

/** How long after its expiry a slot is asked for: the store's clock may be a little behind. Milliseconds. */
const AFTER_EXPIRY = 5

/** All slots are read again after this time, in milliseconds: a watch need not report a slot that is free already. */
const FIRST_LOOK = 50

/** The longest pause between two looks at a store that notifies nobody. Milliseconds. */
const LONGEST_POLL = 5_000

/** The longest pause between two looks where the store notifies of free slots. Milliseconds. */
const LONGEST_WATCHED = 20_000

/** The records to look at. */
export interface DueKeys {
  /** Slots that may have become free. */
  readonly slots: readonly number[]
  /** Whether a resize may ask for its number. */
  readonly resize: boolean
}

/** Notifies one waiter of the slots that may have become free, and of a resize: by the watches of the store, and by polling. */
export class SlotWatch {
  readonly #turnstile: Turnstile
  readonly #keys: readonly SlotKey[]
  readonly #longest: number
  readonly #call = new AbortableCall()
  readonly #alarm: Alarm
  readonly #due = new Set<SlotKey>()
  readonly #expiries = new Map<SlotKey, () => void>()
  readonly #removeListener: () => void = () => {}
  #pause = FIRST_LOOK

  /** Watches these records until the call is aborted or `end` is called. */
  constructor(turnstile: Turnstile, keys: readonly SlotKey[], call: StoreCall) {
    const { store, timeouts, clock, random } = turnstile
    const { heartbeatTimeout: ttl, heartbeatInterval } = timeouts
    this.#turnstile = turnstile
    this.#keys = keys
    const isWatched = store.watch !== undefined
    this.#longest = isWatched ? Math.min(ttl / 3, LONGEST_WATCHED) : Math.min(heartbeatInterval, LONGEST_POLL)
    this.#alarm = new Alarm(clock, this.#call)
    this.#removeListener = call.onAbort(() => this.end())
    for (const key of keys) {
      const source = { store, name: turnstile.nameOf(key), longestPause: this.#longest, clock, random }
      onSignal(source, this.#call, (record, isBreak) => this.#onSignal(key, record, isBreak))
    }
  }

  /** Waits until records have to be looked at. Returns their keys, or all keys after a pause; `undefined` after the end. */
  async next(): Promise<DueKeys | undefined> {
    if (!(await this.#alarm.wait(this.#turnstile.clock.now() + this.#pause))) {
      this.#pause = Math.min(2 * this.#pause, this.#longest)
      for (const key of this.#keys) this.#due.add(key)
    }
    if (this.#call.aborted) return undefined
    const due = [...this.#due]
    this.#due.clear()
    return { slots: due.filter((key) => key !== 'resize'), resize: due.includes('resize') }
  }

  end(): void {
    this.#removeListener()
    this.#call.abort()
    for (const cancel of this.#expiries.values()) cancel()
    this.#expiries.clear()
  }

  /** Has the slot looked at again just after the expiry of its record. */
  expectExpiry(key: SlotKey, { remaining }: LeaseRecord): void {
    this.#expiries.get(key)?.()
    this.#expiries.delete(key)
    if (!Number.isFinite(remaining) || remaining === undefined || remaining < 0 || this.#call.aborted) return
    const cancel = this.#turnstile.clock.schedule(remaining + AFTER_EXPIRY, () => {
      this.#expiries.delete(key)
      this.#add(key)
    })
    this.#expiries.set(key, cancel)
  }

  #add(key: SlotKey): void {
    this.#due.add(key)
    this.#alarm.ring()
  }

  #onSignal(key: SlotKey, record: LeaseRecord | undefined, isBreak: boolean): void {
    const isHeld = isLocked(record)
    // A resize asks for its number while it holds its record.
    if (isBreak || isHeld === (key === 'resize')) this.#add(key)
    else if (isHeld) this.expectExpiry(key, record)
  }
}
