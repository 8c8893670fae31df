import {
  type Clock,
  isLocked,
  LeaseConfigurationError,
  LeaseLostError,
  LeaseUnavailableError,
  type Metadata,
  type StoreHeld,
  type StoreLease,
} from '@leasehold/core'
import { extendHeld, roomOf } from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import type { KeyedLeases } from '../keyed-leases.js'
import { sizeOf } from '../metadata-room.js'
import {
  ageOf,
  type FlightRecord,
  type FlightTimes,
  fromMetadata,
  type StoredValue,
  toMetadata,
} from './flight-record.js'
import { KnownValue } from './known-value.js'
import { type FlightRequest, type SingleFlightPlace, timeFor } from './single-flight-options.js'

/** Both clocks at one instant, taken before a record is asked for: its value is at least as old as it seems. */
interface Sight {
  readonly wall: number
  readonly at: number
}

/** A record as it was read. */
export interface SeenRecord extends FlightRecord {
  readonly isLocked: boolean
  readonly sight: Sight
}

/** How far a run has come. */
export interface RunProgress {
  /** The refresh has returned, so the value may have been written. */
  isMade: boolean
}

interface Surroundings {
  readonly place: SingleFlightPlace | undefined
  /** The wall clock, in milliseconds since 1970. */
  readonly wall: () => number
}

/** Reads and refreshes the values in the records of keys, and in the place of the user. */
export class StoredValues {
  readonly #leases: KeyedLeases
  readonly #clock: Clock
  readonly #place: SingleFlightPlace | undefined
  readonly #wall: () => number

  constructor(leases: KeyedLeases, { place, wall }: Surroundings) {
    this.#leases = leases
    this.#clock = leases.clock
    this.#place = place
    this.#wall = wall
  }

  detailsOf(key: string): LeaseErrorDetails {
    const { settings, store } = this.#leases
    return { leaseName: this.#leases.nameOf(key), owner: settings.owner, store: store.kind ?? 'custom' }
  }

  async read(key: string, signal?: AbortSignal): Promise<SeenRecord> {
    const sight = this.#look()
    const record = await this.#leases.read(key, signal)
    return { ...fromMetadata(record?.metadata, this.detailsOf(key)), isLocked: isLocked(record), sight }
  }

  /** The value of a record; `undefined` if there is none, or the place has lost it. */
  async load(key: string, stored: StoredValue | undefined, sight: Sight): Promise<KnownValue | undefined> {
    if (stored === undefined) return undefined
    const value = stored.text === undefined ? await this.#place?.read(key) : undefined
    if (stored.text === undefined && value === undefined) return undefined
    return new KnownValue(stored, value, { clock: this.#clock, age: ageOf(stored, sight.wall), seenAt: sight.at })
  }

  /**
   * For the holder of a lease: refreshes the value, and resolves with the new one once it is written. If the record has a
   * value that `isEnough`, because another process has refreshed it meanwhile, resolves with that.
   */
  async refresh(
    key: string,
    lease: StoreLease,
    held: StoreHeld,
    request: FlightRequest,
    isEnough: (found: KnownValue) => boolean,
    progress: RunProgress,
  ): Promise<KnownValue> {
    const details = this.detailsOf(key)
    const record = fromMetadata(lease.previous, details)
    const found = await this.load(key, record.stored, this.#look())
    if (found !== undefined && isEnough(found)) return found
    const previous = found === undefined ? await this.#place?.read(key) : found.value
    // Confirmed before the refresh begins. If this process dies, the next one is told that the refresh may have been done.
    await this.#write(lease, held, toMetadata(record, held.fencingToken))
    const begun = this.#look()
    const refreshing = extendHeld(held, { previous, interrupted: record.isBegun })
    let value: unknown
    try {
      value = await request.refresh(refreshing)
    } catch (error) {
      // This refresh has an end, so it does not count as interrupted. Without an answer, it does.
      if (!held.signal.aborted) await lease.update(toMetadata(record)).catch(() => {})
      throw error
    }
    // The grant may be lost, and another run of this object may have the lease by now.
    held.signal.throwIfAborted()
    return await this.#keep(key, lease, held, { request, value, begun, progress })
  }

  /** For the holder of a lease: removes the value from its record. The place keeps its value. */
  async clear(key: string, lease: StoreLease, held: StoreHeld): Promise<void> {
    fromMetadata(lease.previous, this.detailsOf(key))
    await this.#write(lease, held, {})
  }

  async #keep(
    key: string,
    lease: StoreLease,
    held: StoreHeld,
    made: {
      readonly request: FlightRequest
      readonly value: unknown
      readonly begun: Sight
      readonly progress: RunProgress
    },
  ): Promise<KnownValue> {
    const details = this.detailsOf(key)
    const { request, value, begun, progress } = made
    if (value === undefined) throw withoutValue(details)
    const { times, fault } = timesOf(request, value, details)
    const text = this.#place === undefined ? textOf(value, details) : undefined
    const { fencingToken: token } = held
    const stored = { text, token, refreshedBy: this.#leases.settings.owner, refreshedAt: begun.wall, ...times }
    this.#checkRoom(stored, details)
    progress.isMade = true
    await this.#place?.write(key, value, token)
    // The name stays locked until the store has confirmed the value.
    await this.#write(lease, held, toMetadata({ stored, isBegun: false }))
    progress.isMade = false
    if (fault !== undefined) throw fault
    return new KnownValue(stored, value, { clock: this.#clock, age: 0, seenAt: begun.at })
  }

  async #write(lease: StoreLease, held: StoreHeld, metadata: Metadata): Promise<void> {
    held.signal.throwIfAborted()
    if (await lease.update(metadata)) return
    held.signal.throwIfAborted()
    const { name: leaseName, owner } = lease.settings
    throw new LeaseLostError(`the lease '${leaseName}' ended first`, { leaseName, owner, reason: 'expired' })
  }

  #checkRoom(stored: StoredValue, details: LeaseErrorDetails): void {
    // The next refresh has to say that it has begun.
    const size = sizeOf(toMetadata({ stored, isBegun: true }, stored.token))
    const room = roomOf(this.#leases.store.limits)
    if (size <= room) return
    const message = `the value of '${details.leaseName}' needs ${size} bytes of metadata, and a record has room for ${room}: give SingleFlight a place for its values`
    throw new LeaseConfigurationError(message, details)
  }

  #look(): Sight {
    return { wall: this.#wall(), at: this.#clock.now() }
  }
}

/** The error of a caller whose value was made, if it is unknown whether it was written. */
export function unconfirmed(details: LeaseErrorDetails, cause: unknown): LeaseUnavailableError {
  const why = cause instanceof LeaseLostError ? ` because the lease ended (${cause.reason})` : ''
  const message =
    `the value of '${details.leaseName}' was refreshed, but it was not confirmed that it was written${why}: the next refresh ` +
    'may be told that this one was interrupted; call get again'
  return new LeaseUnavailableError(message, { ...details, cause })
}

/** The times of a value. If a function of the user fails, the value counts as expired: it must not be lost. */
function timesOf(
  { freshFor, staleFor }: FlightRequest,
  value: unknown,
  details: LeaseErrorDetails,
): { readonly times: FlightTimes; readonly fault?: unknown } {
  try {
    const times = {
      freshFor: timeFor('freshFor', freshFor, value, details),
      staleFor: timeFor('staleFor', staleFor, value, details),
    }
    return { times }
  } catch (fault) {
    return { times: { freshFor: 0, staleFor: 0 }, fault: fault ?? new Error('freshFor or staleFor threw nothing') }
  }
}

function textOf(value: unknown, details: LeaseErrorDetails): string {
  let text: string | undefined
  let cause: unknown
  try {
    text = JSON.stringify(value)
  } catch (error) {
    cause = error
  }
  if (text !== undefined) return text
  throw new LeaseConfigurationError(`the value of '${details.leaseName}' is not JSON: return plain values`, {
    ...details,
    cause,
  })
}

function withoutValue(details: LeaseErrorDetails): LeaseConfigurationError {
  return new LeaseConfigurationError(
    `the refresh of '${details.leaseName}' returned undefined: return the value`,
    details,
  )
}
