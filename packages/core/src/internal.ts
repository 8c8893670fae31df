// For the other packages of this repository, of the same version. Nothing here is a part of the API.
export { decideClaim, decideRelease, decideRenewal } from './cas/cas-decisions.js'
export { rewrite, standingOf, toGrant, toLeaseRecord } from './cas/cas-records.js'
export type { CasRecord } from './cas/cas-register.js'
export { tokenAfter } from './cas/next-token.js'
export { type Observation, observe } from './cas/observations.js'
export { Publisher } from './channels/channels.js'
export type { EngineEffect, StoreRequest } from './engine/engine-effect.js'
export type { EngineEvent } from './engine/engine-event.js'
export { type EngineRecorder, type LeaseRecording, type RecordedLease, recordLease } from './engine/engine-recorder.js'
export {
  type Acquiring,
  awaits,
  type EngineState,
  type Held,
  heldIn,
  type Releasing,
  wakeAt,
} from './engine/engine-state.js'
export type { EventContext } from './engine/event-context.js'
export {
  type GrantKeeper,
  type GrantToKeep,
  grantKeeper,
  type KeptGrant,
  type KeptLease,
  type SharedDeadline,
} from './engine/grant-keeper.js'
export type { LeaseRules } from './engine/lease-rules.js'
export { Outage } from './engine/outage.js'
export { remainingOf } from './engine/pauses.js'
export { type FenceMaker, type ProcessFence, provideFence } from './engine/self-fence.js'
export { transition } from './engine/transition.js'
export { isDefinitive } from './errors/lease-error.js'
export { lossError } from './errors/lease-lost-error.js'
export {
  checkFault,
  faultOfDuration,
  faultOfFlag,
  faultOfFunction,
  faultOfInterval,
  faultOfLimit,
  faultOfPause,
  faultOfSignal,
} from './errors/option-faults.js'
export { reasonOf, shownLines, shownText, shownValue } from './errors/shown-value.js'
export { suggestionFor } from './errors/suggestion.js'
export { bodyOf, type HttpBody, pathIn, readText } from './http/read-text.js'
export { SecretText } from './http/secret-text.js'
export { checkWork } from './lease/check-work.js'
export { health, healthFrom } from './lease/health.js'
export { extendHeld, heldOf } from './lease/held.js'
export { isLease } from './lease/is-lease.js'
export { Caller, SharedCallers } from './lease/shared-callers.js'
export { workContext } from './lease/work-context.js'
export { tokenInMemory } from './memory/memory-lease-store.js'
export { originOf, originText } from './provider/config-source.js'
export { toLeaseSettings } from './provider/lease-block.js'
export { loadFactory } from './provider/load-factory.js'
export { toMilliseconds } from './settings/duration.js'
export { acknowledgeTime, askBefore } from './settings/fence-times.js'
export { createOwner } from './settings/owner.js'
export { createGrantId } from './store/grant-id.js'
export { checkIdentifier, checkOwner } from './store/lease-name.js'
export { isCount } from './store/lease-record.js'
export { checkMetadata, roomOf } from './store/metadata.js'
export { leastWait, leastWaitOf, looksOf, waitAdvice } from './store/one-look.js'
export { Alarm } from './store-kit/alarm.js'
export { onSignal } from './store-kit/on-signal.js'
export { wrapped } from './store-kit/provider-options.js'
export { createLeaseOptionNames, type LeaseParts, leaseOptionsOf, leaseParts } from './store-lease/create-lease.js'
export { withinTime } from './store-lease/operations.js'
export { isPlainStoreLease, isStoreLease } from './store-lease/store-lease.js'
export { Deferred } from './time/deferred.js'
export { inTime, settledInTime } from './time/in-time.js'
export { keepAlive, keptAlive } from './time/keep-alive.js'
export { createTimeMemory, SharedTime, type TimeMemory } from './time/shared-time.js'
export { BOOT_STEP, type ClockReadings, createSystemClock } from './time/system-clock.js'
export { callGuarded, guardClock, guardRandom, isThenable, readGuarded } from './user-code/guarded-calls.js'
export { logSafely } from './user-code/logger.js'
