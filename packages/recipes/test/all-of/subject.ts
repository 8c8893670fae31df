import { createLease } from '@leasehold/core'
import { allOf } from '@leasehold/recipes'
import type { AllOfLawOptions, AllOfUnderLaw, RecipePlace } from '@leasehold/testkit/recipes'

/** `allOf` over leases of a place, as its laws see it. */
export const jointUnderLaw = {
  name: 'allOf',
  create: ({ store, leaseOptions }: RecipePlace, { names }: AllOfLawOptions): AllOfUnderLaw => {
    const parts = names.map((name) => createLease(store, name, leaseOptions))
    const { clock, logger } = leaseOptions
    return { whole: allOf(parts, { clock, logger }), parts }
  },
}
