export type { StatFileSystem } from './lease-folder.js'
export { LocalGuard, type LocalGuardOptions } from './local-guard.js'
export { localLease } from './local-lease.js'
export { LocalLeaseStore, type LocalLeaseStoreOptions } from './local-lease-store.js'
