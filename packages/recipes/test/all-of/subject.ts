import { createLease } from '@leasehold/core'
import { AllOf } from '@leasehold/recipes'
import type { AllOfLawOptions, AllOfUnderLaw } from '../laws/all-of.js'
import type { RecipePlace } from '../laws/recipe-trial.js'

/** `AllOf` over leases of a place, as its laws see it. */
export const jointUnderLaw = {
  name: 'AllOf',
  create: ({ store, leaseOptions }: RecipePlace, { names }: AllOfLawOptions): AllOfUnderLaw => {
    const parts = names.map((name) => createLease(store, name, leaseOptions))
    const { clock, logger } = leaseOptions
    return { whole: new AllOf(parts, { clock, logger }), parts }
  },
}
