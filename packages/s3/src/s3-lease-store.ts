import type { Clock } from '@leasehold/core'
import { CasLeaseStore } from '@leasehold/core/store-kit'
import type { S3Options } from './s3-options.js'
import { S3Register } from './s3-register.js'

export interface S3LeaseStoreOptions extends Partial<S3Options> {
  /** For tests: observes records by this clock; the machine's unless given. */
  readonly clock?: Clock | undefined
}

/** Leases over a compare-and-set register: a challenger takes over after it has seen the record unchanged for its ttl. */
export class S3LeaseStore extends CasLeaseStore<number> {
  constructor({ clock, ...options }: S3LeaseStoreOptions = {}) {
    super(new S3Register(options), clock === undefined ? {} : { clock })
  }
}
