export type { CasEntry, CasRecord, CasRegister, CasVersion, CasWritten, DisplacedGrant } from './cas/cas-register.js'
export { type CasStore, type CasStoreOptions, casStore } from './cas/cas-store.js'
export type { LeaseErrorDetails } from './errors/lease-error.js'
export type { LeaseEnvironment } from './lease/lease-environment.js'
export { checkLeaseName } from './store/lease-name.js'
export type { LeaseDuration } from './store/lease-record.js'
export type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  ReleaseOutcome,
  RenewOutcome,
  RenewRefusal,
  StoreLimits,
} from './store/lease-store.js'
export { AbortableCall, type StoreCall } from './store/store-call.js'
export type { StoreFinding } from './store/store-finding.js'
export { Fence, type FencingGuard, type GuardOptions } from './store-kit/fence.js'
export { StoreChecks } from './store-kit/store-checks.js'
export { viewOf } from './store-kit/view-of.js'
export type { StoreLeaseEnvironment } from './store-lease/store-lease-environment.js'
