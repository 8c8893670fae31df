import type { Metadata } from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkRecipe, ofRecipe, recipeOf } from '../record-kind.js'
import { LAST_INSTANT } from '../wall-clock.js'

/** The age of a value, as `SingleFlight` judges it. */
export type FlightState = 'fresh' | 'stale' | 'expired'

/** For how long a value is fresh after its refresh, and for how long it is stale after that. Milliseconds. */
export interface FlightTimes {
  readonly freshFor: number
  readonly staleFor: number
}

/** The facts about a value that the metadata of its record keeps. */
export interface StoredValue extends FlightTimes {
  /** The value as JSON; `undefined` if it is in the place of the user. */
  readonly text: string | undefined
  /** The fencing token of the refresh. */
  readonly token: bigint
  /** The owner that has refreshed it. */
  readonly refreshedBy: string
  /** When its refresh began, by the wall clock of that owner, in milliseconds since 1970. */
  readonly refreshedAt: number
}

/** The record of a key. */
export interface FlightRecord {
  readonly stored: StoredValue | undefined
  /** Whether a refresh was begun for which the record has no end. */
  readonly isBegun: boolean
}

/** The record of a key without value. */
const emptyRecord: FlightRecord = { stored: undefined, isBegun: false }

const KIND = 'single-flight'

/** The metadata of a record. `begun`: the fencing token of a refresh that is about to begin. */
export function toMetadata({ stored, isBegun }: FlightRecord, begun?: bigint): Metadata {
  return ofRecipe(KIND, {
    ...(stored !== undefined && {
      ...(stored.text !== undefined && { value: stored.text }),
      token: String(stored.token),
      refreshedBy: stored.refreshedBy,
      refreshedAt: new Date(stored.refreshedAt).toISOString(),
      freshFor: String(stored.freshFor),
      staleFor: String(stored.staleFor),
    }),
    ...(begun !== undefined && { begun: String(begun) }),
    ...(begun === undefined && isBegun && { begun: 'yes' }),
  })
}

/** The metadata of the largest record without the value: a refresh of it has begun. */
export function largestWithout(refreshedBy: string): Metadata {
  const token = 2n ** 63n
  const times = { freshFor: 1e15 / 3, staleFor: 1e15 / 3 }
  const stored = { text: '', token, refreshedBy, refreshedAt: LAST_INSTANT, ...times }
  return toMetadata({ stored, isBegun: true }, token)
}

/**
 * The record of a key, from its metadata. Facts that cannot be read, because another program has written them, count as
 * none. Throws a `LeaseConfigurationError` for the metadata of another recipe.
 */
export function fromMetadata(metadata: Metadata | undefined, details: LeaseErrorDetails): FlightRecord {
  checkRecipe(KIND, metadata, details)
  if (recipeOf(metadata) === undefined) return emptyRecord
  return { stored: storedFrom(metadata ?? {}), isBegun: metadata?.begun !== undefined }
}

function storedFrom(metadata: Partial<Metadata>): StoredValue | undefined {
  const { value: text, token = '', refreshedBy = '', refreshedAt = '', freshFor, staleFor } = metadata
  const instant = Date.parse(refreshedAt)
  const times = { freshFor: Number(freshFor), staleFor: Number(staleFor) }
  const isValid = /^\d+$/.test(token) && !Number.isNaN(instant) && times.freshFor >= 0 && times.staleFor >= 0
  if (!isValid || (text !== undefined && !isJson(text))) return undefined
  return { text, token: BigInt(token), refreshedBy, refreshedAt: instant, ...times }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/**
 * The age of a value at an instant of the wall clock here. The clock that has written it may be ahead, so a time in the future
 * counts as now. If it is more than `freshFor` ahead, the age is unknown, and the value counts as stale.
 */
export function ageOf({ refreshedAt, freshFor }: StoredValue, wall: number): number {
  const age = wall - refreshedAt
  return age < -freshFor ? freshFor : Math.max(0, age)
}

/** The state of a value of this age. */
export function stateOf({ freshFor, staleFor }: FlightTimes, age: number): FlightState {
  if (age < freshFor) return 'fresh'
  return age < freshFor + staleFor ? 'stale' : 'expired'
}
