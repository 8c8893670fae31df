import { LeaseConfigurationError, type StoreHeld } from '@leasehold/core'
import {
  checkFault,
  checkWork,
  faultOfFunction,
  faultOfLimit,
  faultOfSignal,
  shownValue,
} from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import { type RecipeOptions, recipeOptionNames } from '../recipe-options.js'

/** Keeps the values outside of the records, such as in a table of your own. */
export interface SingleFlightPlace {
  /** Returns the value of a key as it was written last; `undefined` if there is none. */
  read(key: string): unknown
  /**
   * Writes the value of a key. It must refuse the write, by throwing, if a write with a larger fencing token came before: a
   * process that was paused may write late.
   */
  write(key: string, value: unknown, fencingToken: bigint): unknown
}

/** The options of {@link SingleFlight}: those of its leases, and a name for its keys. */
export interface SingleFlightOptions extends Omit<RecipeOptions, 'name'> {
  /** The beginning of the lease names: the lease of a key is `name/key`. Unless given, the key itself is the lease name. */
  readonly name?: string | undefined
  /**
   * Keeps the values. The records then keep only the times and the fencing tokens. Unless given, the records keep the
   * values as JSON.
   */
  readonly place?: SingleFlightPlace | undefined
  /**
   * How many values this object keeps in memory, those that were asked for last; 1,000 unless given. A value is returned from
   * memory while it is fresh or stale. 0: every `get` reads the record.
   */
  readonly cacheSize?: number | undefined
  /** The wall clock; the machine's unless given. For tests. */
  readonly now?: (() => Date) | undefined
}

/** What a refresh gets. */
export interface Refreshing<T = unknown> extends StoreHeld {
  /** The value that is to be replaced; `undefined` if there is none. */
  readonly previous: T | undefined
  /**
   * Whether an earlier refresh of `previous` was begun, and its end is unknown: its process died, was paused for too long, or
   * could not write the value. Then it may have used up anything that can be used once, such as a refresh token in `previous`.
   */
  readonly interrupted: boolean
}

/** Makes the next value of a key. */
export type Refresh<T> = (refreshing: Refreshing<T>) => Promise<T>

/** A time in milliseconds, or a function that takes it from the value. */
export type TimeOf<T> = number | ((value: T) => number)

/** The options of one `get`. The times of the caller whose refresh made the value count for all callers. */
export interface SingleFlightGetOptions<T = unknown> {
  /** For how long the value is fresh, in milliseconds from the start of its refresh. `Infinity`: for ever. */
  readonly freshFor: TimeOf<T>
  /**
   * For how long the value is stale after that, in milliseconds: callers get it at once, and one process refreshes it behind
   * them. 0 unless given.
   */
  readonly staleFor?: TimeOf<T> | undefined
  /** Whether the value is of use. If it returns `false`, the value counts as expired. */
  readonly accepts?: ((value: T) => boolean) | undefined
  /** Cancels the wait, which then rejects with the signal's reason; never a refresh that has begun. */
  readonly signal?: AbortSignal | undefined
}

/** A `get` whose arguments were checked. */
export interface FlightRequest {
  readonly refresh: Refresh<unknown>
  readonly freshFor: TimeOf<unknown>
  readonly staleFor: TimeOf<unknown>
  readonly accepts: (value: unknown) => boolean
}

const optionNames: OptionNames<SingleFlightOptions> = { ...recipeOptionNames, place: true, cacheSize: true, now: true }
const getOptionNames: OptionNames<SingleFlightGetOptions> = {
  freshFor: true,
  staleFor: true,
  accepts: true,
  signal: true,
}

const DEFAULT_CACHE_SIZE = 1_000

/** Throws a `LeaseConfigurationError` if an option is invalid, except for those of leases. Returns the size of the cache. */
export function checkOptions(options: SingleFlightOptions): number {
  checkOptionNames('SingleFlight', options, optionNames)
  const { place, cacheSize = DEFAULT_CACHE_SIZE, now } = options
  checkFault(faultOfFunction('SingleFlight: now', now))
  if (place !== undefined && (typeof place?.read !== 'function' || typeof place.write !== 'function')) {
    throw new LeaseConfigurationError('SingleFlight: place must have the functions read and write')
  }
  if (Number.isSafeInteger(cacheSize) && cacheSize >= 0) return cacheSize
  const message = `SingleFlight: cacheSize must be a whole number, 0 or more, not ${shownValue(cacheSize)}`
  throw new LeaseConfigurationError(message)
}

/** Throws a `LeaseConfigurationError` if an argument of `get` is invalid. */
export function checkedRequest<T>(
  refresh: Refresh<T>,
  options: SingleFlightGetOptions<T>,
  details: LeaseErrorDetails,
): FlightRequest {
  checkOptionNames('SingleFlight.get', options, getOptionNames, details)
  checkWork('the refresh of SingleFlight.get', refresh, details)
  const { freshFor, staleFor = 0, accepts = () => true, signal } = options
  if (freshFor === undefined) {
    throw new LeaseConfigurationError('SingleFlight.get needs freshFor, in milliseconds, or as a function', details)
  }
  checkFault(faultOfTime('freshFor', freshFor) ?? faultOfTime('staleFor', staleFor), details)
  checkFault(faultOfFunction('accepts', accepts) ?? faultOfSignal(signal), details)
  // A record has values of one type, that of the callers of its key.
  return { refresh, freshFor, staleFor, accepts } as unknown as FlightRequest
}

/** A time for a value. Throws a `LeaseConfigurationError` if the function of the user returns none. */
export function timeFor(name: string, time: TimeOf<unknown>, value: unknown, details: LeaseErrorDetails): number {
  if (typeof time === 'number') return time
  const found = time(value)
  checkFault(found === undefined ? `${name} returned undefined: return a number` : faultOfLimit(name, found), details)
  return found
}

function faultOfTime(name: string, time: unknown): string | undefined {
  return typeof time === 'function' ? undefined : faultOfLimit(name, time)
}
