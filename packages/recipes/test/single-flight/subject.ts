import { SingleFlight } from '@leasehold/recipes'
import type { RecipePlace } from '../laws/recipe-trial.js'
import type { SingleFlightUnderLaw } from '../laws/single-flight.js'

/** `SingleFlight` in a place, as its laws see it. */
export const singleFlight = {
  name: 'SingleFlight',
  create: ({ store, leaseOptions, now }: RecipePlace): SingleFlightUnderLaw =>
    new SingleFlight(store, { ...leaseOptions, ...(now === undefined ? {} : { now }) }),
}
