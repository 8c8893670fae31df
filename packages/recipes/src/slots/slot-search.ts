import { LeaseError, type StoreLease } from '@leasehold/core'
import { FirstAbort } from '../first-abort.js'
import type { Attempt } from './attempt.js'
import { SlotWatch } from './slot-watch.js'
import type { Turnstile, TurnstileRecord } from './turnstile.js'

/** A slot that was found and acquired. */
export interface FoundSlot {
  readonly lease: StoreLease
  readonly slot: number
}

/** The search of the holder of a turnstile for a free slot. */
export class SlotSearch {
  readonly #turnstile: Turnstile
  readonly #held: StoreLease
  readonly #record: TurnstileRecord
  /** Those that were tried. */
  readonly #slots = new Map<number, StoreLease>()
  /** Slots that may have been granted although the attempt failed. */
  readonly #uncertain = new Set<StoreLease>()
  #failure: unknown
  #hasWaited = false

  constructor(turnstile: Turnstile, held: StoreLease, record: TurnstileRecord) {
    this.#turnstile = turnstile
    this.#held = held
    this.#record = record
  }

  /** Whether it had to wait for a slot. */
  get hasWaited(): boolean {
    return this.#hasWaited
  }

  /**
   * Acquires a free slot. `undefined`: all are held, or the wait or the turnstile ended first. Rejects where the outcome is
   * unknown.
   */
  async find(attempt: Attempt): Promise<FoundSlot | undefined> {
    const { count, next, isFull } = this.#record
    const all = Array.from({ length: count }, (_, place) => (next + place) % count)
    // Where the last one had to wait, most likely no slot is free: the watches find one that is.
    const first = isFull && attempt.isPatient ? all.slice(0, 1) : all
    const found = (await this.#try(first, attempt)) ?? (attempt.isPatient ? await this.#wait(attempt) : undefined)
    if (found === undefined && this.#failure !== undefined) throw this.#failure
    return found
  }

  /** Takes back grants whose answers were lost. Never rejects. */
  async end(): Promise<void> {
    await Promise.allSettled([...this.#uncertain].map((lease) => lease.release()))
  }

  async #wait(attempt: Attempt): Promise<FoundSlot | undefined> {
    this.#hasWaited = true
    this.#turnstile.stay(this.#held, { ...this.#record, isFull: true })
    const ends = new FirstAbort(attempt.signal, this.#held.signal)
    const slots = Array.from({ length: this.#record.count }, (_, slot) => slot)
    const watch = new SlotWatch(this.#turnstile, slots, ends)
    const { wait } = attempt
    const cancel =
      wait === Number.POSITIVE_INFINITY ? () => {} : this.#turnstile.clock.schedule(wait, () => watch.end())
    try {
      while (!ends.aborted) {
        const due = await watch.next()
        if (due.length === 0) return undefined
        const found = await this.#try(due, attempt)
        if (found !== undefined) return found
      }
      return undefined
    } finally {
      cancel()
      watch.end()
      ends.forget()
    }
  }

  async #try(slots: readonly number[], { signal, metadata }: Attempt): Promise<FoundSlot | undefined> {
    for (const slot of slots) {
      const lease = this.#slots.get(slot) ?? this.#turnstile.slot(slot)
      this.#slots.set(slot, lease)
      if (signal.aborted || !this.#held.checkLease()) return undefined
      try {
        const isGranted = await lease.acquire({ signal, ...(metadata === undefined ? {} : { metadata }) })
        this.#failure = undefined
        if (isGranted) return { lease, slot }
      } catch (error) {
        if (!(error instanceof LeaseError)) return undefined
        this.#uncertain.add(lease)
        this.#failure = error
      }
    }
    return undefined
  }
}
