export { LeaseConfigurationError } from './errors/lease-configuration-error.js'
export { LeaseConflictError } from './errors/lease-conflict-error.js'
export { LeaseError, type LeaseErrorCode } from './errors/lease-error.js'
export { LeaseHeldError } from './errors/lease-held-error.js'
export type { LeaseLost, LeaseLostReason } from './errors/lease-lost.js'
export { LeaseLostError } from './errors/lease-lost-error.js'
export { LeaseNameError } from './errors/lease-name-error.js'
export { LeaseStoreUnfitError } from './errors/lease-store-unfit-error.js'
export { LeaseTimeoutError } from './errors/lease-timeout-error.js'
export { LeaseUnauthorisedError } from './errors/lease-unauthorised-error.js'
export { LeaseUnavailableError } from './errors/lease-unavailable-error.js'
export type { AcquireOptions, PreemptOptions, ReleaseOptions } from './lease/acquire-options.js'
export { type Health, type HealthSubject, healthOf } from './lease/health.js'
export type { Held, LeasedWork, StoreHeld } from './lease/held.js'
export { Lease } from './lease/lease.js'
export type { LeaseFactory } from './lease/lease-factory.js'
export type { LeaseRecorder } from './lease/lease-recorder.js'
export { MemoryGuard } from './memory/memory-guard.js'
export { memoryLease } from './memory/memory-lease.js'
export { MemoryLeaseStore, type MemoryLeaseStoreOptions } from './memory/memory-lease-store.js'
export { adviseDurations, type StoreMeasurements } from './objective/advise-durations.js'
export type { DurationAdvice } from './objective/duration-advice.js'
export type { Parent, ParentLease } from './parent/parent.js'
export { watchParent } from './parent/watched-parent.js'
export { LeaseProvider } from './provider/lease-provider.js'
export { durations } from './settings/durations.js'
export type { SelfFenceMode } from './settings/fence-times.js'
export type { LeaseObjective } from './settings/lease-objective.js'
export { LeaseSettings, type LeaseSettingsOptions } from './settings/lease-settings.js'
export type { RenewAt } from './settings/renew-at-strategy.js'
export type { HeartbeatPlan, RenewalStrategy, RenewalTimes } from './settings/renewal-strategy.js'
export { type TimeoutOptions, TimeoutSettings } from './settings/timeout-settings.js'
export {
  Grant,
  isLocked,
  LeaseRecord,
  type LeaseState,
  type Metadata,
} from './store/lease-record.js'
export type { LeaseStore } from './store/lease-store.js'
export { type CreateLeaseOptions, createLease } from './store-lease/create-lease.js'
export type { HandOff, HandOffTo } from './store-lease/hand-off.js'
export type { LeaseEvents } from './store-lease/lease-events.js'
export {
  breakLease,
  listLeases,
  readLease,
  releaseLease,
  type StoreOperationOptions,
} from './store-lease/operations.js'
export { StoreLease } from './store-lease/store-lease.js'
export { type WatchLeaseOptions, watchLease } from './store-lease/watch-lease.js'
export type { Clock } from './time/clock.js'
export { systemClock } from './time/system-clock.js'
export { defaultLogger, type Logger } from './user-code/logger.js'
