export { AbortListeners } from '../abort-listeners.js'
export type {
  CasEntry,
  CasRecord,
  CasRegister,
  CasVersion,
  CasWritten,
  DisplacedGrant,
} from '../cas/cas-register.js'
export { CasLeaseStore, type CasStore, type CasStoreOptions, casStore } from '../cas/cas-store.js'
export { Outage } from '../engine/outage.js'
export { keepAlive, keptAlive } from '../keep-alive.js'
export { checkLeaseName, checkOwner, decodeLeaseName, encodeLeaseName, type NameAlphabet } from '../lease-name.js'
export { createLeaseOptionNames, type LeaseParts, leaseOptionsOf, leaseParts } from '../lease-options.js'
export { checkMetadata, withoutBreakReason } from '../metadata.js'
export { checkOptionNames, type OptionNames } from '../option-names.js'
export { toMilliseconds } from '../provider/duration.js'
export { checkWork } from '../run/check-work.js'
export { extendHeld, heldOf } from '../run/held.js'
export { reasonOf, shownLines, shownText } from '../shown-value.js'
export { suggestionFor } from '../suggestion.js'
export { systemRandom } from '../system-random.js'
export { guardClock, guardRandom, readGuarded } from '../user-code.js'
export { validityOf } from '../validity.js'
export { backoff } from './backoff.js'
export { anotherGrant, nothingToBreak } from './break-conflict.js'
export { Fence, type FencingGuard, type GuardOptions } from './fence.js'
export { parsedJSON } from './json-text.js'
export { isLeaseState } from './lease-record.js'
export type {
  AcquireOutcome,
  AcquireRequest,
  BreakOptions,
  ReleaseOutcome,
  RenewOutcome,
  RenewRefusal,
} from './lease-store.js'
export { type Decision, LifeCycle, type LifeCycleRules, type NameState } from './life-cycle/life-cycle.js'
export { LifeCycleStore, type LifeCycleStoreOptions } from './life-cycle/life-cycle-store.js'
export { isLockedAt, type StoredLease } from './life-cycle/stored-lease.js'
export type { TurnWatches, TurnWatchesOptions } from './life-cycle/turn-watches.js'
export { type Place, WaitQueue } from './life-cycle/wait-queue.js'
export type { TurnState } from './life-cycle/watched-name.js'
export { MessageListeners } from './message-listeners.js'
export { withinTime } from './operations.js'
export { readOptionFile } from './option-file.js'
export { checkedTexts, OptionValues } from './option-values.js'
export { pause } from './pause.js'
export { type OpenContext, type ProviderFactory, providerFactory } from './provider-factory.js'
export {
  type OptionDeclaration,
  type OptionDeclarations,
  type OptionDescription,
  type OptionsOf,
  type OptionValue,
  ProviderOptions,
} from './provider-options.js'
export { RecentMap } from './recent-map.js'
export { type Operation, Requests, type RequestsOptions } from './requests.js'
export { inRounds } from './rounds.js'
export { AbortableCall, type StoreCall } from './store-call.js'
export { StoreChecks } from './store-checks.js'
export { Subscription, type SubscriptionOptions } from './subscription.js'
export { untilAborted } from './until-aborted.js'
export { viewOf } from './view-of.js'
