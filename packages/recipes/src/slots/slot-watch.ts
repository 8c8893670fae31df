import { isLocked, type LeaseRecord } from '@leasehold/core'
import { AbortableCall, type StoreCall } from '@leasehold/core/store'
import type { Place, Turnstile } from './turnstile.js'

/** A slot is not asked for at the very instant of its expiry, where the store's clock may not be there yet. */
const AFTER_EXPIRY = 5

/** All slots are read again after this time, in milliseconds: a watch need not report a slot that is free already. */
const FIRST_LOOK = 50

/** The longest pause between two looks at a store that notifies nobody. Milliseconds. */
const LONGEST_POLL = 5_000

/** The longest pause between two looks where the store notifies of free slots. Milliseconds. */
const LONGEST_WATCHED = 20_000

/** The places to look at. */
export interface DuePlaces {
  /** Slots that may have become free. */
  readonly slots: readonly number[]
  /** Whether a resize may ask for its number. */
  readonly resize: boolean
}

/** Notifies one waiter of the slots that may have become free, and of a resize: by the watches of the store, and by polling. */
export class SlotWatch {
  readonly #turnstile: Turnstile
  readonly #places: readonly Place[]
  readonly #longest: number
  readonly #call = new AbortableCall()
  readonly #due = new Set<Place>()
  readonly #expiries = new Map<Place, () => void>()
  readonly #removeListener: () => void = () => {}
  #pause = FIRST_LOOK
  #cancelPause: (() => void) | undefined
  #wake: () => void = () => {}

  /** Watches the places until the call is aborted or `end` is called. */
  constructor(turnstile: Turnstile, places: readonly Place[], call: StoreCall) {
    const { store, timeouts } = turnstile
    const { heartbeatTimeout: ttl, heartbeatInterval } = timeouts
    this.#turnstile = turnstile
    this.#places = places
    const isWatched = store.watch !== undefined
    this.#longest = isWatched ? Math.min(ttl / 3, LONGEST_WATCHED) : Math.min(heartbeatInterval, LONGEST_POLL)
    this.#removeListener = call.onAbort(() => this.end())
    if (isWatched && !call.aborted) for (const place of places) void this.#watch(place)
  }

  /** Waits until places have to be looked at, and returns them; all of them after a pause; `undefined` after the end. */
  async next(): Promise<DuePlaces | undefined> {
    if (this.#due.size === 0 && !this.#call.aborted) {
      this.#cancelPause = this.#turnstile.clock.schedule(this.#pause, () => {
        this.#pause = Math.min(2 * this.#pause, this.#longest)
        for (const place of this.#places) this.#add(place)
      })
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
      this.#cancelPause()
    }
    if (this.#call.aborted) return undefined
    const due = [...this.#due]
    this.#due.clear()
    return { slots: due.filter((place) => place !== 'resize'), resize: due.includes('resize') }
  }

  end(): void {
    this.#removeListener()
    this.#call.abort()
    for (const cancel of this.#expiries.values()) cancel()
    this.#expiries.clear()
    this.#cancelPause?.()
    this.#wake()
  }

  /** The shortest time until the slot is free, in milliseconds, unless it is released. */
  expectExpiry(place: Place, { remaining }: LeaseRecord): void {
    this.#expiries.get(place)?.()
    this.#expiries.delete(place)
    if (!Number.isFinite(remaining) || remaining === undefined || remaining < 0 || this.#call.aborted) return
    const cancel = this.#turnstile.clock.schedule(remaining + AFTER_EXPIRY, () => {
      this.#expiries.delete(place)
      this.#add(place)
    })
    this.#expiries.set(place, cancel)
  }

  #add(place: Place): void {
    this.#due.add(place)
    this.#wake()
  }

  async #watch(place: Place): Promise<void> {
    const { store } = this.#turnstile
    try {
      for await (const record of store.watch?.(this.#turnstile.nameOf(place), this.#call) ?? []) {
        if (this.#call.aborted) return
        const isHeld = isLocked(record)
        // A resize asks for its number while it holds its place.
        if (isHeld === (place === 'resize')) this.#add(place)
        else if (isHeld) this.expectExpiry(place, record)
      }
    } catch {
      // Watching only saves looks: the next look finds and reports what is wrong with the store.
    }
  }
}
