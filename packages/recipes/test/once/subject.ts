import { Once } from '@leasehold/recipes'
import type { OnceLawOptions, OnceUnderLaw } from '../laws/once.js'
import type { RecipePlace } from '../laws/recipe-trial.js'

/** `Once` in a place, as its laws see it. */
export const once = {
  name: 'Once',
  create: ({ store, leaseOptions, now }: RecipePlace, options: OnceLawOptions): OnceUnderLaw =>
    new Once(store, { ...leaseOptions, ...(now === undefined ? {} : { now }), ...options }),
}
