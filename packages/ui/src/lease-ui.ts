import type { LeaseStore } from '@leasehold/core'
import type { LeaseUiOptions } from './lease-ui-options.js'

/** A page that shows who holds which lease of a store. */
export class LeaseUi {
  constructor(store: LeaseStore, options: LeaseUiOptions) {
    void [store, options]
  }
}
