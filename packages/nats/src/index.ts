export { NatsGuard } from './nats-guard.js'
export { natsLease } from './nats-lease.js'
export { NatsLeaseStore, type NatsLeaseStoreOptions } from './nats-lease-store.js'
export { type NatsOptions, natsOptions } from './nats-options.js'
