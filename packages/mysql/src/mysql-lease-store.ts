import type { Clock } from '@leasehold/core'
import { CasLeaseStore } from '@leasehold/core/store-kit'
import type { MysqlOptions } from './mysql-options.js'
import { MysqlRegister } from './mysql-register.js'

export interface MysqlLeaseStoreOptions extends Partial<MysqlOptions> {
  /** For tests: observes records by this clock; the machine's unless given. */
  readonly clock?: Clock | undefined
}

/** Leases over a compare-and-set register: a challenger takes over after it has seen the record unchanged for its ttl. */
export class MysqlLeaseStore extends CasLeaseStore<number> {
  constructor({ clock, ...options }: MysqlLeaseStoreOptions = {}) {
    super(new MysqlRegister(options), clock === undefined ? {} : { clock })
  }
}
