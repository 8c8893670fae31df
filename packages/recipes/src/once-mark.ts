import { LeaseConfigurationError, type LeaseStore, type Metadata } from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkMetadataRoom, sizeOf } from './metadata-room.js'
import { checkRecipe, ofRecipe, recipeOf } from './record-kind.js'

/** The metadata of a record that marks its key as done: the owner that did the work, and the outcome as JSON. */
export type Mark = Metadata & { readonly doneBy: string }

/** The reasons why an outcome was dropped, by the text that a mark keeps. */
const faults: Readonly<Record<string, string>> = {
  'not-json': 'is not JSON: return plain values',
  'too-large': 'is larger than the metadata of a record of this store: keep it elsewhere, and return where',
}

/** Throws a `LeaseConfigurationError` unless the records of the store have room for the marks of an owner. */
export function checkMarks(store: LeaseStore, owner: string): void {
  const largest = ofRecipe('once', { doneBy: owner, outcomeFault: 'too-large' })
  checkMetadataRoom('Once', store, largest, 'to mark a key as done')
}

/** The mark of a work that has ended. An outcome that cannot be kept is dropped: the mark then has the reason. */
export function createMark(outcome: unknown, owner: string, room: number): Mark {
  const done = ofRecipe('once', { doneBy: owner })
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
