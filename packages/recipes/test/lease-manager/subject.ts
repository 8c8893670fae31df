import { LeaseManager } from '@leasehold/recipes'
import type { RecipePlace } from '../laws/recipe-trial.js'

/** A `LeaseManager` in a place, as its laws see it. */
export const managerUnderLaw = {
  name: 'LeaseManager',
  create: ({ store, leaseOptions }: RecipePlace, options: { readonly concurrency?: number }) =>
    new LeaseManager(store, { ...leaseOptions, ...options }),
}
