import { Semaphore } from '@leasehold/recipes'
import type { RecipeSubject, SemaphoreLawOptions, SemaphoreUnderTest } from '@leasehold/testkit/recipes'

/** The semaphore, for its laws. */
export const semaphore: Omit<RecipeSubject<SemaphoreUnderTest, SemaphoreLawOptions>, 'store'> = {
  name: 'Semaphore',
  create: ({ store, name, leaseOptions }, options) => new Semaphore(store, { ...leaseOptions, ...options, name }),
}
