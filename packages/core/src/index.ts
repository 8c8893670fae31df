export { AbortListeners } from './abort-listeners.js'
export type { CasEntry, CasRecord, CasRegister, CasVersion, CasWritten } from './cas/cas-register.js'
export { type CasStore, type CasStoreOptions, casStore } from './cas/cas-store.js'
export type { Clock } from './clock.js'
export { type CreateLeaseOptions, createLease } from './create-lease.js'
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
export { type AcquireOptions, Lease } from './lease.js'
export type { LeaseEnvironment } from './lease-environment.js'
export type { LeaseEvents, LeaseListener } from './lease-events.js'
export type { LeaseLost, LeaseLostReason } from './lease-lost.js'
export { checkLeaseName, encodeLeaseName, type NameAlphabet } from './lease-name.js'
export { LeaseSettings, type LeaseSettingsOptions } from './lease-settings.js'
export { defaultLogger, type Logger } from './logger.js'
export { type CellOptions, GuardedCell } from './memory/guarded-cell.js'
export { memoryLease } from './memory/memory-lease.js'
export {
  type MemoryAcquireRequest,
  MemoryLeaseStore,
  type MemoryLeaseStoreOptions,
} from './memory/memory-lease-store.js'
export { checkMetadata } from './metadata.js'
export { toMilliseconds } from './provider/duration.js'
export { isLease } from './provider/is-lease.js'
export type { ConfigSource } from './provider/lease-block.js'
export type { LeaseFactory, LeaseFactoryContext } from './provider/lease-factory.js'
export { LeaseProvider } from './provider/lease-provider.js'
export type { HeartbeatPlan, RenewalStrategy, RenewalTimes } from './renewal/renewal-strategy.js'
export type { LeasedWork } from './run/lease-run.js'
export { checkFencingToken } from './store/fence.js'
export type { Grant, LeaseRecord, LeaseState, Metadata } from './store/lease-record.js'
export type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  LeaseStore,
  ReleaseOutcome,
  RenewOutcome,
  RenewRefusal,
  StoreLimits,
} from './store/lease-store.js'
export { breakLease, listLeases, readLease, type StoreOperationOptions } from './store/operations.js'
export { OptionValues } from './store/option-values.js'
export { AbortableCall, type StoreCall } from './store/store-call.js'
export { type ReleaseOptions, StoreLease } from './store-lease.js'
export { type ClockReadings, createSystemClock, systemClock } from './system-clock.js'
export { type RenewalStrategyName, type TimeoutOptions, TimeoutSettings } from './timeout-settings.js'
