export { LocalGuard, type LocalGuardOptions } from './local-guard.js'
export { LocalLeaseStore, type LocalLeaseStoreOptions } from './local-lease-store.js'
