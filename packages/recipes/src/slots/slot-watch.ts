import type { LeaseRecord } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import { isLocked } from '../record-state.js'
import type { Turnstile } from './turnstile.js'

/** A slot is not asked for at the very instant of its expiry, where the store's clock may not be there yet. */
const AFTER_EXPIRY = 5

/** A watch need not tell that a slot is free already, so all slots are looked at after so many milliseconds. */
const FIRST_LOOK = 50

/** The longest pause between two looks at a store that notifies nobody. Milliseconds. */
const LONGEST_POLL = 5_000

/** The longest pause between two looks where the store notifies of free slots. Milliseconds. */
const LONGEST_WATCHED = 20_000

/** Notifies one waiter of the slots that may have become free: by the watches of the store, and by polling. */
export class SlotWatch {
  readonly #turnstile: Turnstile
  readonly #slots: readonly number[]
  readonly #longest: number
  readonly #call = new AbortableCall()
  readonly #due = new Set<number>()
  readonly #expiries = new Map<number, () => void>()
  readonly #removeListener: () => void = () => {}
  #pause = FIRST_LOOK
  #cancelPause: (() => void) | undefined
  #wake: () => void = () => {}

  /** Watches the slots until the call is aborted or `end` is called. */
  constructor(turnstile: Turnstile, slots: readonly number[], call: StoreCall) {
    const { store, timeouts } = turnstile
    const { heartbeatTimeout: ttl, heartbeatInterval } = timeouts
    this.#turnstile = turnstile
    this.#slots = slots
    const isWatched = store.watch !== undefined
    this.#longest = isWatched ? Math.min(ttl / 3, LONGEST_WATCHED) : Math.min(heartbeatInterval, LONGEST_POLL)
    this.#removeListener = call.onAbort(() => this.end())
    if (isWatched && !call.aborted) for (const slot of slots) void this.#watch(slot)
  }

  /** Waits until slots may have become free, and returns their numbers; all of them after a pause; none after the end. */
  async next(): Promise<readonly number[]> {
    if (this.#due.size === 0 && !this.#call.aborted) {
      this.#cancelPause = this.#turnstile.clock.schedule(this.#pause, () => {
        this.#pause = Math.min(2 * this.#pause, this.#longest)
        for (const slot of this.#slots) this.#add(slot)
      })
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#cancelPause()
    }
    if (this.#call.aborted) return []
    const due = [...this.#due]
    this.#due.clear()
    return due
  }

  end(): void {
    this.#removeListener()
    this.#call.abort()
    for (const cancel of this.#expiries.values()) cancel()
    this.#expiries.clear()
    this.#cancelPause?.()
    this.#wake()
  }

  /** The slot is held for so many milliseconds at least, unless it is released. */
  expectExpiry(slot: number, { remaining }: LeaseRecord): void {
    this.#expiries.get(slot)?.()
    this.#expiries.delete(slot)
    if (!Number.isFinite(remaining) || remaining === undefined || remaining < 0 || this.#call.aborted) return
    const cancel = this.#turnstile.clock.schedule(remaining + AFTER_EXPIRY, () => {
      this.#expiries.delete(slot)
      this.#add(slot)
    })
    this.#expiries.set(slot, cancel)
  }

  #add(slot: number): void {
    this.#due.add(slot)
    this.#wake()
  }

  async #watch(slot: number): Promise<void> {
    const { store } = this.#turnstile
    try {
      for await (const record of store.watch?.(this.#turnstile.nameOf(slot), this.#call) ?? []) {
        if (this.#call.aborted) return
        if (record !== undefined && isLocked(record)) this.expectExpiry(slot, record)
        else this.#add(slot)
      }
    } catch {
      // Watching only saves looks: the next look finds and reports what is wrong with the store.
    }
  }
}
