import { LeaseError, LeaseLostError, type StoreLease } from '@leasehold/core'
import { FirstAbort } from '../first-abort.js'
import { type Entry, type EntryRequest, isTransient } from './entry.js'
import { readWish } from './resize-wish.js'
import { heldSlots } from './slot-drain.js'
import { SlotWatch } from './slot-watch.js'
import type { Turnstile } from './turnstile.js'
import { type TurnstileRecord, toMetadata, withCount } from './turnstile-record.js'

/**
 * Passes the turnstile and enters a slot. The entry counts only if the turnstile was still held when the grant of the slot
 * was seen: so no entry by a request that was sent late counts once another has the turnstile.
 *
 * A turnstile that was broken meanwhile is seen only when it is left. A reader waits for that: a writer may have taken the
 * turnstile and seen the slot empty. Permits need no such check, since nobody else can be in the same slot.
 */
export async function enterSlot(turnstile: Turnstile, request: EntryRequest): Promise<Entry | undefined> {
  const held = turnstile.lease()
  if (!(await turnstile.take(held, request))) return undefined
  const { fencingToken } = held
  let leave = (): Promise<boolean> => held.release()
  let entry: Entry | undefined
  try {
    const search = new SlotSearch(turnstile, held, await turnstile.read(held))
    const found = await search.find(request)
    if (found === undefined) return undefined
    const { hasWaited, record } = search
    const next = (found.slot + 1) % record.count
    const metadata = toMetadata(turnstile.kind, { ...record, next, isFull: hasWaited })
    leave = () => held.release({ metadata })
    try {
      if (fencingToken === undefined || !held.checkLease()) return undefined
      const leaving = leave()
      const left = leaving.catch(() => {})
      if (turnstile.kind === 'readers' && !(await leaving)) return undefined
      entry = { ...found, fencingToken, left }
      return entry
    } finally {
      if (entry === undefined) await found.lease.release().catch(() => {})
    }
  } catch (error) {
    // The turnstile was lost: an attempt that waits begins again.
    if (error instanceof LeaseLostError && request.isPatient) return undefined
    throw error
  } finally {
    if (entry === undefined) await leave().catch(() => {})
  }
}

/** All slots, from the one to try first. */
function inTurn({ count, next }: TurnstileRecord): readonly number[] {
  return Array.from({ length: count }, (_, offset) => (next + offset) % count)
}

/** A slot that was found and acquired. */
interface FoundSlot {
  readonly lease: StoreLease
  readonly slot: number
}

/** The search of the holder of a turnstile for a free slot. */
class SlotSearch {
  /** The record of the turnstile: the number changes if somebody resizes during the search. */
  record: TurnstileRecord
  /** Whether it had to wait for a slot. */
  hasWaited = false
  readonly #turnstile: Turnstile
  readonly #held: StoreLease
  /** The leases on the slots that were tried. */
  readonly #leases = new Map<number, StoreLease>()
  #failure: unknown

  constructor(turnstile: Turnstile, held: StoreLease, record: TurnstileRecord) {
    this.#turnstile = turnstile
    this.#held = held
    this.record = record
  }

  /**
   * Acquires a free slot. `undefined`: all are held, or the wait or the turnstile ended first. Rejects where the outcome is
   * unknown. A grant whose answer was lost is taken back by its lease.
   */
  async find(request: EntryRequest): Promise<FoundSlot | undefined> {
    const { isFull } = this.record
    const [next = 0, ...others] = inTurn(this.record)
    let found = await this.#try([next], request)
    // If the last holder had to wait, most likely no slot is free: the watches find one that is.
    // One look at several slots takes less time than a claim on each.
    if (!isFull || !request.isPatient) found ??= await this.#try(others.length > 1 ? 'free' : others, request)
    if (request.isPatient) found ??= await this.#wait(request)
    if (found === undefined && this.#failure !== undefined) throw this.#failure
    return found
  }

  async #wait(request: EntryRequest): Promise<FoundSlot | undefined> {
    this.hasWaited = true
    this.record = { ...this.record, isFull: true }
    // This only saves time: a holder that cannot write it is about to lose the turnstile.
    this.#turnstile.stay(this.#held, this.record).catch(() => {})
    const ends = new FirstAbort(request.signal, this.#held.signal)
    const { wait } = request
    const cancel =
      wait === Number.POSITIVE_INFINITY ? () => {} : this.#turnstile.clock.schedule(wait, () => ends.abort())
    try {
      let found: FoundSlot | undefined
      while (!ends.aborted && found === undefined) found = await this.#waitWhile(this.record.slots, ends, request)
      return found
    } finally {
      cancel()
      ends.forget()
    }
  }

  /** Waits for a free slot. Resolves with `undefined` if the wait has ended, or if the number of slots has changed. */
  async #waitWhile(slots: number, ends: FirstAbort, request: EntryRequest): Promise<FoundSlot | undefined> {
    const all = Array.from({ length: slots }, (_, slot) => slot)
    const resizable = this.#turnstile.kind === 'permits'
    const watch = new SlotWatch(this.#turnstile, resizable ? [...all, 'resize'] : all, ends)
    try {
      for (;;) {
        const due = await watch.next()
        if (due === undefined) return undefined
        const isResized = due.resize && (await this.#obeyResize(ends.signal))
        const found = await this.#try(isResized ? all : due.slots, request)
        if (found !== undefined || this.record.slots > slots) return found
      }
    } finally {
      watch.end()
    }
  }

  /** Carries out a resize for the instance that asks for it: that would wait for its turn as long as no slot is free. */
  async #obeyResize(signal: AbortSignal): Promise<boolean> {
    const wish = await readWish(this.#turnstile, signal).catch(() => undefined)
    if (wish === undefined || wish.change === this.record.change) return false
    this.record = withCount(this.record, wish.count, wish.change)
    await this.#turnstile.stay(this.#held, this.record)
    this.#turnstile.follow(wish.count)
    return true
  }

  /** Tries these slots one after the other, or those that one look at all finds free. */
  async #try(slots: readonly number[] | 'free', { signal, metadata }: EntryRequest): Promise<FoundSlot | undefined> {
    for (const slot of await this.#enterable(slots, signal)) {
      const lease = this.#leases.get(slot) ?? this.#turnstile.lease(slot)
      this.#leases.set(slot, lease)
      if (signal.aborted || !this.#held.checkLease()) return undefined
      try {
        const isGranted = await lease.acquire({ signal, ...(metadata === undefined ? {} : { metadata }) })
        this.#failure = undefined
        if (isGranted) return { lease, slot }
      } catch (error) {
        if (!this.#isRepeated(error)) return undefined
      }
    }
    return undefined
  }

  /**
   * The slots that may be entered. While slots from `count` on may be held, which a larger number left over, there are none
   * unless fewer than `count` are held in all.
   */
  async #enterable(slots: readonly number[] | 'free', signal: AbortSignal): Promise<readonly number[]> {
    const { count, slots: all } = this.record
    if (all === count && slots !== 'free') return slots.filter((slot) => slot < count)
    try {
      const held = await heldSlots(this.#turnstile, all, signal)
      // Nobody enters while this instance holds the turnstile, so that they stay empty.
      if (![...held].some((slot) => slot >= count)) this.record = { ...this.record, slots: count }
      return held.size < count ? inTurn(this.record).filter((slot) => !held.has(slot)) : []
    } catch (error) {
      this.#isRepeated(error)
      return []
    }
  }

  /** Notes a failure. Returns whether another slot is to be tried; throws the failure if that would not help. */
  #isRepeated(failure: unknown): boolean {
    // The failure is the reason of an abort.
    if (!(failure instanceof LeaseError)) return false
    if (!isTransient(failure)) throw failure
    this.#failure = failure
    return true
  }
}
