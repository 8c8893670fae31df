import type { Clock } from '@leasehold/core'
import { CasLeaseStore } from '@leasehold/core/store-kit'
import type { NatsOptions } from './nats-options.js'
import { NatsRegister } from './nats-register.js'

export interface NatsLeaseStoreOptions extends Partial<NatsOptions> {
  /** For tests: observes records by this clock; the machine's unless given. */
  readonly clock?: Clock | undefined
}

/** Leases over a compare-and-set register: a challenger takes over after it has seen the record unchanged for its ttl. */
export class NatsLeaseStore extends CasLeaseStore<number> {
  constructor({ clock, ...options }: NatsLeaseStoreOptions = {}) {
    super(new NatsRegister(options), clock === undefined ? {} : { clock })
  }
}
