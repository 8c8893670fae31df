import { LeaseConfigurationError, type Metadata, type StoreLease } from '@leasehold/core'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import type { RecipeKind } from './read-recipe.js'
import { recipeSettings } from './recipe-settings.js'

/** The key of the metadata that says which recipe has written a record. */
const KEY = 'recipe'

/** The writer of a record: a recipe, or the control of a schedule, which has a record beside that of the schedule. */
type RecordKind = RecipeKind | 'schedule-control'

/** Metadata that name their recipe, so that no other recipe takes them for its own. */
export function ofRecipe<M extends Metadata>(recipe: RecordKind, metadata: M): M & Metadata {
  return { [KEY]: recipe, ...metadata }
}

/** The metadata without the name of their recipe. */
export function withoutRecipe(metadata: Metadata): Metadata {
  const { [KEY]: _, ...others } = metadata
  return others
}

/** The recipe that has written these metadata; `undefined` if that was none, such as a plain lease. */
export function recipeOf(metadata: Metadata | undefined): string | undefined {
  // The client of a user may answer with anything.
  const recipe: unknown = metadata?.[KEY]
  return typeof recipe === 'string' ? recipe : undefined
}

/** Whether this is the name of a writer of records here: other programs may have records with names of their own. */
export function isRecordKind(kind: string): kind is RecordKind {
  return kind === 'schedule-control' || Object.hasOwn(recipeSettings, kind)
}

/** Throws a `LeaseConfigurationError` if another recipe has written these metadata. */
export function checkRecipe(recipe: RecordKind, metadata: Metadata | undefined, details: LeaseErrorDetails): void {
  const found = recipeOf(metadata)
  if (found === undefined || found === recipe) return
  const message = `'${details.leaseName}' is a name of the recipe '${found}', so '${recipe}' cannot use it: give one of them another name`
  throw new LeaseConfigurationError(message, details)
}

/**
 * For a holder whose grant has replaced the metadata: if they were those of another recipe, puts them back, releases the
 * lease and rejects with a `LeaseConfigurationError`.
 */
export async function keepOtherRecipe(
  recipe: RecipeKind,
  lease: StoreLease,
  details: LeaseErrorDetails,
): Promise<void> {
  const { previous } = lease
  try {
    checkRecipe(recipe, previous, details)
  } catch (error) {
    await lease.release(previous === undefined ? {} : { metadata: previous })
    throw error
  }
}
