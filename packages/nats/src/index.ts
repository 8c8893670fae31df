export type {
  NatsClient,
  NatsHeaders,
  NatsMessage,
  NatsRequestOptions,
  NatsStatus,
  NatsSubscription,
} from './client/nats-client.js'
export type { ConnectionOptions } from './connection.js'
export { NatsGuard, type NatsGuardOptions } from './nats-guard.js'
export { natsLease } from './nats-lease.js'
export { NatsLeaseStore, type NatsLeaseStoreOptions } from './nats-lease-store.js'
export { type NatsOptions, natsOptions } from './nats-options.js'
