import { AbortListeners } from '@leasehold/core/store'

/** One for all recipes: an application may pass the same signal to many of them. */
export const aborts = new AbortListeners()
