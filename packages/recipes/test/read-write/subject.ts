import { ReadWriteLease } from '@leasehold/recipes'
import type { ReadWriteLawOptions, ReadWriteUnderTest, RecipeSubject } from '@leasehold/testkit/recipes'

/** The lease of readers and a writer, for its laws. */
export const readWriteLease: Omit<RecipeSubject<ReadWriteUnderTest, ReadWriteLawOptions>, 'store'> = {
  name: 'ReadWriteLease',
  create: ({ store, name, leaseOptions }, options) => new ReadWriteLease(store, { ...leaseOptions, ...options, name }),
}
