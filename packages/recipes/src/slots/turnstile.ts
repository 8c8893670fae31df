import {
  type Clock,
  defaultLogger,
  LeaseConfigurationError,
  LeaseLostError,
  type LeaseRecord,
  LeaseSettings,
  type LeaseStore,
  type Logger,
  type Metadata,
  readLease,
  StoreLease,
  systemClock,
  type TimeoutSettings,
} from '@leasehold/core'
import { guardClock, leaseParts, logSafely } from '@leasehold/core/internal'
import type { LeaseErrorDetails, StoreLeaseEnvironment } from '@leasehold/core/store'
import { systemRandom } from '@leasehold/core/store-kit'
import { readKnown } from '../read-known.js'
import { leaseOptionsOf, type RecipeOptions } from '../recipe-options.js'
import type { EntryRequest } from './entry.js'
import {
  checkedCount,
  fromMetadata,
  isStaying,
  ofStaying,
  type SlotKind,
  type TurnstileRecord,
  toMetadata,
  withCount,
} from './turnstile-record.js'

/** Names a record beside the turnstile: that of a numbered slot, or the one in which a resize asks for its number. */
export type SlotKey = number | 'resize'

/**
 * Each instance holds this lease while it enters, so entries are one after the other, first come, first served where the
 * store is ordered. The numbered slots are leases, too. A slot is entered only while the turnstile is held, so that
 * the holder of the turnstile knows that an empty slot stays empty.
 */
export class Turnstile {
  readonly store: LeaseStore
  readonly name: string
  readonly clock: Clock
  readonly random: () => number
  /** The settings of all its leases, except for the name. */
  readonly settings: LeaseSettings
  readonly kind: SlotKind
  readonly #environment: StoreLeaseEnvironment
  readonly #logger: Logger
  readonly #onLease: (lease: StoreLease) => unknown
  readonly #made: number
  #count: number
  /** Whether this instance has written its number, or taken over the one of the record. */
  #hasAgreed = false

  /**
   * `count`: the number of slots that this instance was made with. Throws a `LeaseConfigurationError` where the store lacks
   * an ability, or an option is invalid. `onLease` gets each lease that is made.
   */
  constructor(
    store: LeaseStore,
    kind: SlotKind,
    count: number,
    options: RecipeOptions,
    onLease: (lease: StoreLease) => unknown,
  ) {
    const { name, clock = systemClock, random = systemRandom, logger = defaultLogger } = options
    this.store = store
    this.name = name
    this.clock = guardClock(clock, (error) => logSafely(logger, 'error', `'${name}': the clock failed`, error))
    this.random = random
    this.kind = kind
    this.#logger = logger
    this.#onLease = onLease
    this.#made = checkedCount(kind, count, name)
    this.#count = this.#made
    const { settings, environment } = leaseParts('createLease', name, leaseOptionsOf(options))
    this.settings = settings
    this.#environment = environment
    // This lease has the longest name. Making it checks that the store admits the settings.
    this.lease(count - 1)
    if (store.update !== undefined && store.limits.metadata !== 0) return
    const message =
      `'${name}': the ${store.kind ?? 'custom'} store has no room for metadata, and the number of ${kind} is kept there: ` +
      'use a store, or a layout of its records, that has metadata'
    throw new LeaseConfigurationError(message, this.details)
  }

  get timeouts(): TimeoutSettings {
    return this.settings.timeouts
  }

  /** How many slots there are, as far as this instance knows. */
  get count(): number {
    return this.#count
  }

  get details(): LeaseErrorDetails {
    return { leaseName: this.name, ...(this.store.kind === undefined ? {} : { store: this.store.kind }) }
  }

  /** A lease on the turnstile, or on a record beside it. */
  lease(key?: SlotKey): StoreLease {
    const settings = key === undefined ? this.settings : new LeaseSettings({ ...this.settings, name: this.nameOf(key) })
    const lease = new StoreLease(settings, this.store, this.#environment)
    this.#onLease(lease)
    return lease
  }

  nameOf(key?: SlotKey): string {
    return key === undefined ? this.name : `${this.name}/${key}`
  }

  /** The record of the turnstile, or one beside it, at this moment. */
  readRecord(key?: SlotKey, signal?: AbortSignal): Promise<LeaseRecord | undefined> {
    return readLease(this.store, this.nameOf(key), this.#readOptions(signal))
  }

  /** As `readRecord`, with the metadata of the holder, which come a moment after its grant on some stores. */
  readKnownRecord(key?: SlotKey, signal?: AbortSignal): Promise<LeaseRecord | undefined> {
    return readKnown(this.store, this.nameOf(key), this.#readOptions(signal))
  }

  /** Takes the turnstile. An attempt without a wait gives up at once if the holder stays in the turnstile. */
  async take(lease: StoreLease, { isPatient, wait, signal }: EntryRequest): Promise<boolean> {
    if (isPatient) return await lease.acquire({ wait, signal })
    if (await lease.acquire({ signal })) return true
    const holder = await lease.holder()
    if (holder !== undefined && isStaying(holder)) return false
    // The holder only enters, and leaves the turnstile soon.
    return await lease.acquire({ wait: lease.settings.timeouts.operationTimeout, signal })
  }

  /**
   * The record, for the holder of the turnstile. An instance that comes for the first time, with another number than the
   * one that came last, writes its own number. The others follow the record. Rejects with a `LeaseLostError` where the
   * turnstile was lost before it was written.
   */
  async read(lease: StoreLease): Promise<TurnstileRecord> {
    const found = this.readAny(lease)
    const isOther = !this.#hasAgreed && found.made !== this.#made
    const record = isOther ? { ...withCount(found, this.#made, `made-${lease.fencingToken}`), made: this.#made } : found
    // Written before a slot is entered: an instance with a smaller number has to know all slots that may be held.
    if (isOther || lease.previous?.[this.kind] === undefined) await this.write(lease, record)
    if (isOther) this.#warn(found.count)
    this.follow(record.count)
    return record
  }

  /** The record, whatever its number. If it has none, that of this instance counts. */
  readAny(lease: StoreLease): TurnstileRecord {
    return this.#parsed(lease.previous)
  }

  /** The record as any instance can read it at this moment. */
  async look(signal: AbortSignal): Promise<TurnstileRecord> {
    return this.#parsed((await this.readKnownRecord(undefined, signal))?.metadata)
  }

  /** Writes the record while the turnstile is held. Rejects with a `LeaseLostError` where it was lost before. */
  async write(lease: StoreLease, record: TurnstileRecord, others: Metadata = {}): Promise<void> {
    if (await lease.update({ ...others, ...toMetadata(this.kind, record) })) return
    throw new LeaseLostError(`the turnstile '${this.name}' was lost`, { ...this.details, reason: 'expired' })
  }

  /** Takes over the number of the record. */
  follow(count: number): void {
    this.#count = count
    this.#hasAgreed = true
  }

  /**
   * Writes the record, and that the holder stays, so that attempts without a wait give up at once. Rejects as `write` does.
   * `others`: metadata of the user.
   */
  async stay(lease: StoreLease, record: TurnstileRecord, others: Metadata = {}): Promise<void> {
    await this.write(lease, record, ofStaying(lease.fencingToken, others))
  }

  #readOptions(signal: AbortSignal | undefined) {
    const { clock, timeouts } = this
    return { timeout: timeouts.operationTimeout, clock, ...(signal === undefined ? {} : { signal }) }
  }

  #parsed(metadata: Metadata | undefined): TurnstileRecord {
    return fromMetadata(this.kind, metadata ?? {}, { count: this.#count, made: this.#made }, this.details)
  }

  /** Two instances of different numbers are either a deployment or a mistake. */
  #warn(before: number): void {
    const message =
      `'${this.name}' had ${before} ${this.kind}, and has ${this.#made} from now on, because this instance was made with ` +
      `${this.#made}. If no deployment is under way, give one of the two another name`
    logSafely(this.#logger, 'warn', message)
  }
}
