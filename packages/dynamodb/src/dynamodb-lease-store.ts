import type { Clock } from '@leasehold/core'
import { CasLeaseStore } from '@leasehold/core/store-kit'
import type { DynamodbOptions } from './dynamodb-options.js'
import { DynamodbRegister } from './dynamodb-register.js'

export interface DynamodbLeaseStoreOptions extends Partial<DynamodbOptions> {
  /** For tests: observes records by this clock; the machine's unless given. */
  readonly clock?: Clock | undefined
}

/** Leases over a compare-and-set register: a challenger takes over after it has seen the record unchanged for its ttl. */
export class DynamodbLeaseStore extends CasLeaseStore<number> {
  constructor({ clock, ...options }: DynamodbLeaseStoreOptions = {}) {
    super(new DynamodbRegister(options), clock === undefined ? {} : { clock })
  }
}
