import type { Clock } from '@leasehold/core'
import { CasLeaseStore } from '@leasehold/core/store'
import type { PostgresOptions } from './postgres-options.js'
import { PostgresRegister } from './postgres-register.js'

export interface PostgresLeaseStoreOptions extends Partial<PostgresOptions> {
  /** For tests: observes records by this clock; the machine's unless given. */
  readonly clock?: Clock | undefined
}

/** Leases over a compare-and-set register: a challenger takes over after it has seen the record unchanged for its ttl. */
export class PostgresLeaseStore extends CasLeaseStore<number> {
  constructor({ clock, ...options }: PostgresLeaseStoreOptions = {}) {
    super(new PostgresRegister(options), clock === undefined ? {} : { clock })
  }
}
