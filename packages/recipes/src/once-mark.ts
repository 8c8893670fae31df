import { LeaseConfigurationError, type LeaseStore, type Metadata } from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkMetadataRoom, sizeOf } from './metadata-room.js'
import { checkRecipe, ofRecipe, recipeOf } from './record-kind.js'
import { LAST_INSTANT } from './wall-clock.js'

/**
 * The metadata of a record that marks its key as done: the owner that did the work, when it was done by the wall clock of that
 * owner (`doneAt`), and the outcome as JSON.
 */
export type Mark = Metadata & { readonly doneBy: string }

/** The reasons why an outcome was dropped, by the text that a mark keeps. */
const faults: Readonly<Record<string, string>> = {
  'not-json': 'is not JSON: return plain values',
  'too-large': 'is larger than the metadata of a record of this store: keep it elsewhere, and return where',
}

/** Throws a `LeaseConfigurationError` unless the records of the store have room for the marks of an owner. */
export function checkMarks(store: LeaseStore, owner: string): void {
  const largest = ofRecipe('once', { ...doneBy(owner, LAST_INSTANT), outcomeFault: 'too-large' })
  checkMetadataRoom('Once', store, largest, 'to mark a key as done')
}

/** The details of a mark. `at`: when the work was done, in milliseconds since 1970. `room`: the bytes of metadata in a record. */
export interface MarkDetails {
  readonly owner: string
  readonly at: number
  readonly room: number
}

/** The mark of a work that has ended. An outcome that cannot be kept is dropped: the mark then has the reason. */
export function createMark(outcome: unknown, { owner, at, room }: MarkDetails): Mark {
  const done = ofRecipe('once', doneBy(owner, at))
  let text: string | undefined
  try {
    text = JSON.stringify(outcome)
  } catch {
    return { ...done, outcomeFault: 'not-json' }
  }
  if (text === undefined) return outcome === undefined ? done : { ...done, outcomeFault: 'not-json' }
  const mark = { ...done, outcome: text }
  return sizeOf(mark) > room ? { ...done, outcomeFault: 'too-large' } : mark
}

/** The mark in the metadata of a record, if there is one. Throws a `LeaseConfigurationError` for those of another recipe. */
export function markFrom(metadata: Metadata | undefined, details: LeaseErrorDetails): Mark | undefined {
  checkRecipe('once', metadata, details)
  return recipeOf(metadata) !== undefined && typeof metadata?.doneBy === 'string' ? (metadata as Mark) : undefined
}

/**
 * Whether a mark is older than `expiresAfter`, by the wall clock here. A time in the future counts as now, and a mark without a
 * time, of a version before, never expires: the work must not be done again by mistake.
 */
export function hasExpired({ doneAt = '' }: Partial<Metadata>, expiresAfter: number, wall: number): boolean {
  const instant = Date.parse(doneAt)
  return !Number.isNaN(instant) && wall - instant > expiresAfter
}

/** The outcome that a mark keeps. Throws a `LeaseConfigurationError` if it was dropped. */
export function outcomeOf({ outcome, outcomeFault, doneBy }: Mark, details: LeaseErrorDetails): unknown {
  if (outcomeFault === undefined && outcome === undefined) return undefined
  try {
    if (outcomeFault === undefined && outcome !== undefined) return JSON.parse(outcome)
  } catch {
    // Another program has written it.
  }
  const why = faults[outcomeFault ?? 'not-json'] ?? 'was not kept'
  throw new LeaseConfigurationError(
    `the work of '${details.leaseName}' was done by '${doneBy}', but its outcome ${why}`,
    details,
  )
}

function doneBy(owner: string, at: number): { readonly doneBy: string; readonly doneAt: string } {
  return { doneBy: owner, doneAt: new Date(at).toISOString() }
}
