import type { CreateLeaseOptions } from '@leasehold/core'
import { createLeaseOptionNames } from '@leasehold/core/internal'
import type { OptionNames } from '@leasehold/core/store-kit'

/** The options of every recipe: its name, and those of the leases that it makes. */
export interface RecipeOptions extends CreateLeaseOptions {
  /** The name of the thing that the recipe coordinates. Its leases have this name, or names that begin with it. */
  readonly name: string
  /** For how long `stop()` waits for the work in progress to end after its signal has aborted, in milliseconds; 10 s unless given. */
  readonly stopTimeout?: number | undefined
}

/** The options of a recipe that works from `start()` to `stop()`. */
export interface StartedRecipeOptions extends RecipeOptions {
  /** Whether the process stays alive from `start()` until `stop()`; `true` unless given. */
  readonly keepAlive?: boolean | undefined
}

/** For `checkOptionNames`: the names that every recipe accepts. */
export const recipeOptionNames: OptionNames<RecipeOptions> = {
  name: true,
  stopTimeout: true,
  ...createLeaseOptionNames,
}

/** For `checkOptionNames`: the names that every recipe with `start()` accepts. */
export const startedRecipeOptionNames: OptionNames<StartedRecipeOptions> = { ...recipeOptionNames, keepAlive: true }

/** The part of the options that a lease takes. */
export function leaseOptionsOf(options: CreateLeaseOptions): CreateLeaseOptions {
  const names = Object.keys(createLeaseOptionNames) as (keyof CreateLeaseOptions)[]
  return Object.fromEntries(names.map((name) => [name, options[name]]))
}
