import {
  type Clock,
  type CreateLeaseOptions,
  createLease,
  LeaseConfigurationError,
  type LeaseErrorDetails,
  LeaseLostError,
  type LeaseStore,
  type Metadata,
  type StoreLease,
  systemClock,
  type TimeoutSettings,
} from '@leasehold/core'
import { leaseOptionsOf, type RecipeOptions } from '../recipe-options.js'
import type { Attempt } from './attempt.js'

/** The use of the slots, and the key of their number in the record of the turnstile. */
export type SlotKind = 'permits' | 'readers'

/** The numbers in the record of a turnstile. */
export interface TurnstileRecord {
  /** How many slots may be entered. */
  readonly count: number
  /** Slots from this number on are empty: more than `count` while a smaller number of slots is not reached yet. */
  readonly slots: number
  /** The slot to try first. */
  readonly next: number
  /** Whether the last holder of the turnstile had to wait for a slot. */
  readonly isFull: boolean
}

/**
 * Each instance holds this lease while it enters, so entries are one after the other, first come, first served where the
 * store is ordered. The numbered slots are leases, too. A slot is entered only while the turnstile is held, so that
 * the holder of the turnstile knows that an empty slot stays empty.
 */
export class Turnstile {
  readonly store: LeaseStore
  readonly name: string
  readonly clock: Clock
  /** Of all its leases. */
  readonly timeouts: TimeoutSettings
  readonly #kind: SlotKind
  readonly #leaseOptions: CreateLeaseOptions
  #count: number
  #hasAgreed = false

  /**
   * `count`: the number of slots that this instance was made with. Throws a `LeaseConfigurationError` where the store lacks
   * an ability, or an option is invalid.
   */
  constructor(store: LeaseStore, kind: SlotKind, count: number, options: RecipeOptions) {
    const { name, clock = systemClock } = options
    this.store = store
    this.name = name
    this.clock = clock
    this.#kind = kind
    this.#leaseOptions = leaseOptionsOf(options)
    this.#count = checkedCount(kind, count, name)
    const { owner, timeouts } = this.slot(count - 1).settings
    this.timeouts = timeouts
    // All leases have the same owner, also where it was not given.
    this.#leaseOptions = { ...this.#leaseOptions, owner }
    if (store.update !== undefined && store.limits.metadata !== 0) return
    const message =
      `'${name}': the ${store.kind ?? 'custom'} store has no room for metadata, and the number of ${kind} is kept there: ` +
      'use a store, or a layout of its records, that has metadata'
    throw new LeaseConfigurationError(message, this.details)
  }

  /** How many slots there are, as far as this instance knows. */
  get count(): number {
    return this.#count
  }

  get details(): LeaseErrorDetails {
    return { leaseName: this.name, ...(this.store.kind === undefined ? {} : { store: this.store.kind }) }
  }

  /** A lease on the turnstile. */
  lease(): StoreLease {
    return createLease(this.store, this.name, this.#leaseOptions)
  }

  slot(slot: number): StoreLease {
    return createLease(this.store, this.nameOf(slot), this.#leaseOptions)
  }

  nameOf(slot: number): string {
    return `${this.name}/${slot}`
  }

  /** Takes the turnstile. An attempt without a wait gives up at once where the holder stays in it. */
  async take(lease: StoreLease, { isPatient, wait, signal }: Attempt): Promise<boolean> {
    if (isPatient) return await lease.acquire({ wait, signal })
    if (await lease.acquire({ signal })) return true
    const holder = await lease.holder()
    // A store of the user may answer with nonsense.
    if (holder !== undefined && holder.metadata?.stays === String(holder.fencingToken)) return false
    // The holder only enters, and leaves the turnstile soon.
    return await lease.acquire({ wait: lease.settings.timeouts.operationTimeout, signal })
  }

  /**
   * The record, for the holder of the turnstile. Rejects with a `LeaseConfigurationError` where the recorded number is not
   * that of this instance, unless they were the same before: then this instance follows.
   */
  async read(lease: StoreLease): Promise<TurnstileRecord> {
    const record = this.readAny(lease)
    if (record.count !== this.#count) this.#follow(record.count)
    if (lease.previous?.[this.#kind] === undefined) await this.write(lease, record)
    this.#hasAgreed = true
    return record
  }

  /** The record, whatever its number; that of this instance where there is none. */
  readAny(lease: StoreLease): TurnstileRecord {
    const left = lease.previous ?? {}
    const other = this.#kind === 'permits' ? 'readers' : 'permits'
    if (left[other] !== undefined) {
      const message = `'${this.name}' has ${left[other]} ${other}, so it cannot have ${this.#kind}: use another name`
      throw new LeaseConfigurationError(message, this.details)
    }
    const count = Math.max(1, wholeNumber(left[this.#kind]) ?? this.#count)
    const slots = Math.max(count, wholeNumber(left.slots) ?? count)
    return { count, slots, next: (wholeNumber(left.next) ?? 0) % count, isFull: left.full === 'yes' }
  }

  /** Writes the record while the turnstile is held. Rejects with a `LeaseLostError` where it was lost before. */
  async write(lease: StoreLease, record: TurnstileRecord): Promise<void> {
    if (await lease.update(this.toMetadata(record))) return
    throw new LeaseLostError(`the turnstile '${this.name}' was lost`, { ...this.details, reason: 'expired' })
  }

  /** Writes another number of slots, for all instances. Rejects as `write` does. */
  async resize(lease: StoreLease, record: TurnstileRecord): Promise<void> {
    await this.write(lease, record)
    this.#count = record.count
    this.#hasAgreed = true
  }

  /** Notes that the holder stays, so that attempts without a wait give up at once. */
  stay(lease: StoreLease, record: TurnstileRecord): void {
    const { fencingToken } = lease
    // It only saves time: a holder that cannot write it is about to lose the turnstile.
    lease.update({ ...this.toMetadata(record), stays: String(fencingToken) }).catch(() => {})
  }

  toMetadata({ count, slots, next, isFull }: TurnstileRecord): Metadata {
    return {
      [this.#kind]: String(count),
      slots: String(slots),
      next: String(next),
      ...(isFull ? { full: 'yes' } : {}),
    }
  }

  #follow(count: number): void {
    const kind = this.#kind
    if (!this.#hasAgreed) {
      const resize = kind === 'permits' ? `, or call resize(${this.#count})` : ', in every instance'
      const message =
        `'${this.name}' has ${count} ${kind}, but this instance was made with ${this.#count}: ` +
        `make it with ${count}${resize}`
      throw new LeaseConfigurationError(message, this.details)
    }
    this.#count = count
  }
}

/** Returns the number of slots. Throws a `LeaseConfigurationError` unless it is a whole number from 1 on. */
export function checkedCount(kind: SlotKind, count: unknown, leaseName: string): number {
  if (typeof count === 'number' && Number.isSafeInteger(count) && count > 0) return count
  const message = `${kind} must be a whole number from 1 on, not ${String(count)}`
  throw new LeaseConfigurationError(message, typeof leaseName === 'string' ? { leaseName } : {})
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
}
