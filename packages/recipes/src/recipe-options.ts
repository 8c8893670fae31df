import type { CreateLeaseOptions } from '@leasehold/core'
import { createLeaseOptionNames, type OptionNames } from '@leasehold/core/store'

/** The options of every recipe: its name, and those of the leases that it makes. */
export interface RecipeOptions extends CreateLeaseOptions {
  /** The name of the thing that the recipe coordinates. Its leases have this name, or names that begin with it. */
  readonly name: string
}

/** For `checkOptionNames`: the names that every recipe accepts. */
export const recipeOptionNames: OptionNames<RecipeOptions> = { name: true, ...createLeaseOptionNames }

/** The part of the options that a lease takes. */
export function leaseOptionsOf(options: CreateLeaseOptions): CreateLeaseOptions {
  const names = Object.keys(createLeaseOptionNames) as (keyof CreateLeaseOptions)[]
  return Object.fromEntries(names.map((name) => [name, options[name]]))
}
