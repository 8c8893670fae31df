export type { AcquireOptions, PreemptOptions, ReleaseOptions } from './acquire-options.js'
export type { Clock } from './clock.js'
export { createLease } from './create-lease.js'
export { durations } from './durations.js'
export { LeaseConfigurationError } from './errors/lease-configuration-error.js'
export { LeaseConflictError } from './errors/lease-conflict-error.js'
export { LeaseError, type LeaseErrorCode, type LeaseErrorDetails } from './errors/lease-error.js'
export { LeaseHeldError } from './errors/lease-held-error.js'
export { LeaseLostError } from './errors/lease-lost-error.js'
export { LeaseNameError } from './errors/lease-name-error.js'
export { LeaseTimeoutError } from './errors/lease-timeout-error.js'
export { LeaseUnauthorisedError } from './errors/lease-unauthorised-error.js'
export { LeaseUnavailableError } from './errors/lease-unavailable-error.js'
export type { HandOff } from './hand-off.js'
export { Lease } from './lease.js'
export type { LeaseEnvironment, StoreLeaseEnvironment } from './lease-environment.js'
export type { LeaseEvents, LeaseListener } from './lease-events.js'
export type { LeaseLost, LeaseLostReason } from './lease-lost.js'
export type { CreateLeaseOptions } from './lease-options.js'
export { LeaseSettings, type LeaseSettingsOptions } from './lease-settings.js'
export { defaultLogger, type Logger } from './logger.js'
export { MemoryGuard } from './memory/memory-guard.js'
export { memoryLease } from './memory/memory-lease.js'
export {
  type MemoryAcquireRequest,
  MemoryLeaseStore,
  type MemoryLeaseStoreOptions,
} from './memory/memory-lease-store.js'
export type { Parent, ParentLease } from './parent/parent.js'
export { watchParent } from './parent/watched-parent.js'
export type { ConfigSource } from './provider/config-source.js'
export { isLease } from './provider/is-lease.js'
export type { LeaseFactory, LeaseFactoryContext } from './provider/lease-factory.js'
export { type ConfiguredStore, LeaseProvider } from './provider/lease-provider.js'
export type { RenewAt } from './renewal/renew-at-strategy.js'
export type { HeartbeatPlan, RenewalStrategy, RenewalTimes } from './renewal/renewal-strategy.js'
export type { Held, LeasedWork, StoreHeld } from './run/held.js'
export type { SelfFenceMode } from './self-fence/fence-times.js'
export {
  Grant,
  isLocked,
  type LeaseDuration,
  LeaseRecord,
  type LeaseState,
  type Metadata,
} from './store/lease-record.js'
export type { LeaseStore, StoreLimits } from './store/lease-store.js'
export { breakLease, listLeases, readLease, releaseLease, type StoreOperationOptions } from './store/operations.js'
export { type WatchLeaseOptions, watchLease } from './store/watch-lease.js'
export { StoreLease } from './store-lease.js'
export { type ClockReadings, createSystemClock, systemClock } from './system-clock.js'
export { type RenewalStrategyName, type TimeoutOptions, TimeoutSettings } from './timeout-settings.js'
