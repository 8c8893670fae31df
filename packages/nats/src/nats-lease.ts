import { providerFactory } from '@leasehold/core/store-kit'
import { NatsLeaseStore } from './nats-lease-store.js'
import { natsOptions } from './nats-options.js'

/** The factory of leases that `lease-class = "@leasehold/nats"` names. */
export const natsLease = providerFactory(natsOptions, (values, { clock }) => new NatsLeaseStore({ ...values, clock }))
