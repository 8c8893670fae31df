import { Once } from '@leasehold/recipes'
import type { OnceUnderLaw, RecipePlace } from '@leasehold/testkit/recipes'

/** `Once` in a place, as its laws see it. */
export const once = {
  name: 'Once',
  create: ({ store, leaseOptions }: RecipePlace): OnceUnderLaw => new Once(store, leaseOptions),
}
