import { AbortListeners } from '@leasehold/core/store-kit'

/** One for all recipes: an application may pass the same signal to many of them. */
export const aborts = new AbortListeners()
