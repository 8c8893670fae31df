import { Semaphore } from '@leasehold/recipes'
import type { RecipeSubject } from '../laws/recipe-trial.js'
import type { SemaphoreLawOptions, SemaphoreUnderTest } from '../laws/semaphore.js'

/** The semaphore, for its laws. */
export const semaphore: Omit<RecipeSubject<SemaphoreUnderTest, SemaphoreLawOptions>, 'store'> = {
  name: 'Semaphore',
  create: ({ store, name, leaseOptions }, options) => new Semaphore(store, { ...leaseOptions, ...options, name }),
}
