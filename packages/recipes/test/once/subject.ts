import { Once } from '@leasehold/recipes'
import type { OnceUnderLaw } from '../laws/once.js'
import type { RecipePlace } from '../laws/recipe-trial.js'

/** `Once` in a place, as its laws see it. */
export const once = {
  name: 'Once',
  create: ({ store, leaseOptions }: RecipePlace): OnceUnderLaw => new Once(store, leaseOptions),
}
