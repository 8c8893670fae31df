import type { LeaseRecord } from '@leasehold/core'
import type { RowRecipe } from '../protocol.js'

/** The records of one recipe in a listing. */
export class FoundRecipe {
  readonly recipe: RowRecipe
  /** The record with the name of the recipe. */
  record: LeaseRecord | undefined
  /** The record of the wishes of operators about a schedule. */
  control: LeaseRecord | undefined
  /** Those with a number: candidates, slots, members of a group. */
  readonly places: FoundPlace[] = []
  /** The names of all, also of those that are of no use for the view. */
  readonly names: string[] = []

  constructor(recipe: RowRecipe) {
    this.recipe = recipe
  }
}

/** A record with a number. */
export interface FoundPlace {
  readonly place: number
  readonly record: LeaseRecord
}

/** The facts of metadata, for `KeptViews`. */
export function metadataFacts(record: LeaseRecord | undefined): readonly unknown[] {
  const facts: unknown[] = []
  for (const key in record?.metadata) facts.push(key, record.metadata[key])
  return facts
}

/** Another program may have written nonsense: it is ignored. */
export function readable<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}
