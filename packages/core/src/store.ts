export type {
  CasEntry,
  CasRecord,
  CasRegister,
  CasVersion,
  CasWritten,
  DisplacedGrant,
} from './cas/cas-register.js'
export { CasLeaseStore, type CasStore, type CasStoreOptions, casStore } from './cas/cas-store.js'
export { Outage } from './engine/outage.js'
export { checkOptionNames, type OptionNames } from './errors/option-names.js'
export { reasonOf, shownLines, shownText } from './errors/shown-value.js'
export { suggestionFor } from './errors/suggestion.js'
export { checkWork } from './lease/check-work.js'
export { extendHeld, heldOf } from './lease/held.js'
export { type Decision, LifeCycle, type LifeCycleRules, type NameState } from './life-cycle/life-cycle.js'
export { LifeCycleStore, type LifeCycleStoreOptions } from './life-cycle/life-cycle-store.js'
export { isLockedAt, type StoredLease } from './life-cycle/stored-lease.js'
export type { TurnWatches, TurnWatchesOptions } from './life-cycle/turn-watches.js'
export { type Place, WaitQueue } from './life-cycle/wait-queue.js'
export type { TurnState } from './life-cycle/watched-name.js'
export { type OpenContext, type ProviderFactory, providerFactory } from './provider/provider-factory.js'
export { toMilliseconds } from './settings/duration.js'
export { anotherGrant, nothingToBreak } from './store/break-conflict.js'
export { parsedJSON } from './store/json-text.js'
export { checkLeaseName, checkOwner, decodeLeaseName, encodeLeaseName, type NameAlphabet } from './store/lease-name.js'
export { isLeaseState } from './store/lease-record.js'
export type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  ReleaseOutcome,
  RenewOutcome,
  RenewRefusal,
} from './store/lease-store.js'
export { checkMetadata, withoutBreakReason } from './store/metadata.js'
export { AbortableCall, type StoreCall } from './store/store-call.js'
export { backoff } from './store-kit/backoff.js'
export { Fence, type FencingGuard, type GuardOptions } from './store-kit/fence.js'
export { MessageListeners } from './store-kit/message-listeners.js'
export { readOptionFile } from './store-kit/option-file.js'
export { checkedTexts, OptionValues } from './store-kit/option-values.js'
export { pause } from './store-kit/pause.js'
export {
  type OptionDeclaration,
  type OptionDeclarations,
  type OptionDescription,
  type OptionsOf,
  type OptionValue,
  ProviderOptions,
} from './store-kit/provider-options.js'
export { RecentMap } from './store-kit/recent-map.js'
export { type Operation, Requests, type RequestsOptions } from './store-kit/requests.js'
export { inRounds } from './store-kit/rounds.js'
export { StoreChecks } from './store-kit/store-checks.js'
export { Subscription, type SubscriptionOptions } from './store-kit/subscription.js'
export { untilAborted } from './store-kit/until-aborted.js'
export { viewOf } from './store-kit/view-of.js'
export { createLeaseOptionNames, type LeaseParts, leaseOptionsOf, leaseParts } from './store-lease/lease-options.js'
export { withinTime } from './store-lease/operations.js'
export { AbortListeners } from './time/abort-listeners.js'
export { keepAlive, keptAlive } from './time/keep-alive.js'
export { systemRandom } from './time/system-random.js'
export { validityOf } from './time/validity.js'
export { guardClock, guardRandom, readGuarded } from './user-code/guarded-calls.js'
