import { providerFactory } from '@leasehold/core/store-kit'
import { ConsulLeaseStore } from './consul-lease-store.js'
import { consulOptions } from './consul-options.js'

/**
 * The factory of leases that `lease-class = "@leasehold/consul"` names. All leases of one provider with the same options
 * share a store, its connections, and its sessions.
 */
export const consulLease = providerFactory(
  consulOptions,
  (values, { clock, random }) => new ConsulLeaseStore({ ...values, clock, random }),
)
