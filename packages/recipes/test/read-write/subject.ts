import { ReadWriteLease } from '@leasehold/recipes'
import type { ReadWriteLawOptions, ReadWriteUnderTest } from '../laws/read-write.js'
import type { RecipeSubject } from '../laws/recipe-trial.js'

/** The lease of readers and a writer, for its laws. */
export const readWriteLease: Omit<RecipeSubject<ReadWriteUnderTest, ReadWriteLawOptions>, 'store'> = {
  name: 'ReadWriteLease',
  create: ({ store, name, leaseOptions }, options) => new ReadWriteLease(store, { ...leaseOptions, ...options, name }),
}
