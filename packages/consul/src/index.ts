export { ConsulGuard, type ConsulOperation } from './consul-guard.js'
export { consulLease } from './consul-lease.js'
export { ConsulLeaseStore } from './consul-lease-store.js'
export {
  type ConsulClusterOptions,
  type ConsulLeaseStoreOptions,
  type ConsulOptions,
  consulOptions,
} from './consul-options.js'
