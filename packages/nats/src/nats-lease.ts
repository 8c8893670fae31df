import { providerFactory } from '@leasehold/core/store-kit'
import { NatsLeaseStore } from './nats-lease-store.js'
import { natsOptions } from './nats-options.js'

/**
 * The factory that `lease-class = "@leasehold/nats"` loads. All leases of one provider with the same options share a store and
 * its connection.
 */
export const natsLease = providerFactory(natsOptions, (values, { clock }) => {
  const { bucket, domain, clockDifference, create, probe, ...connection } = values
  return new NatsLeaseStore(connection, { bucket, domain, clockDifference, create, probe, clock })
})
