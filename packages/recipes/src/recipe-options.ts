import type { CreateLeaseOptions } from '@leasehold/core'
import type { OptionNames } from '@leasehold/core/store'

/** The options of every recipe: its name, and those of the leases that it makes. */
export interface RecipeOptions extends CreateLeaseOptions {
  /** The name of the thing that the recipe coordinates. Its leases have this name, or names that begin with it. */
  readonly name: string
}

/** For `checkOptionNames`: the names that every recipe accepts. */
export const recipeOptionNames: OptionNames<RecipeOptions> = {
  name: true,
  owner: true,
  heartbeatTimeout: true,
  heartbeatInterval: true,
  operationTimeout: true,
  strategy: true,
  maxHold: true,
  clock: true,
  logger: true,
  random: true,
}

/** The part of the options that a lease takes. */
export function leaseOptionsOf(options: RecipeOptions): CreateLeaseOptions {
  const { owner, heartbeatTimeout, heartbeatInterval, operationTimeout, strategy, maxHold, clock, logger, random } =
    options
  return { owner, heartbeatTimeout, heartbeatInterval, operationTimeout, strategy, maxHold, clock, logger, random }
}
