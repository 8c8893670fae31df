import { createLockManager } from '@leasehold/recipes'
import type { LockManagerLawOptions, LockManagerUnderLaw } from '../laws/lock-manager.js'
import type { RecipeSubject } from '../laws/recipe-trial.js'

/** A lock manager in a place, as its laws see it. */
export const lockManager: Omit<RecipeSubject<LockManagerUnderLaw, LockManagerLawOptions>, 'store'> = {
  name: 'LockManager',
  create: ({ store, name, leaseOptions }, options) =>
    createLockManager(store, { ...leaseOptions, readers: 3, ...options, name }),
}
