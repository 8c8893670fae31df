// The parts that several providers need, beside the contract of a store in `@leasehold/core/store`.
export { PROBE_NAME } from './cas/cas-probe.js'
export { CasLeaseStore } from './cas/cas-store.js'
export { clockErrorOf } from './cas/clock-error.js'
export { recordIn, recordText } from './cas/record-text.js'
export { listingText } from './errors/listing-text.js'
export { checkOptionNames, type OptionNames } from './errors/option-names.js'
export type { LeaseFactoryContext } from './lease/lease-factory.js'
export type { ConfigSource } from './provider/config-source.js'
export type { ConfiguredStore } from './provider/lease-provider.js'
export { type OpenContext, type ProviderFactory, providerFactory } from './provider/provider-factory.js'
export { anotherGrant, nothingToBreak } from './store/break-conflict.js'
export { GRANTED_AGAIN, largerOf, raisedTo } from './store/fencing-token.js'
export { parsedJSON } from './store/json-text.js'
export { decodeLeaseName, encodeLeaseName, type NameAlphabet } from './store/lease-name.js'
export { withoutBreakReason } from './store/metadata.js'
export { clockFinding } from './store/store-finding.js'
export { backoff } from './store-kit/backoff.js'
export { isUnconnected, networkMessage } from './store-kit/connection-errors.js'
export { FirstUseProbe, requireFit } from './store-kit/first-use-probe.js'
export { MessageListeners } from './store-kit/message-listeners.js'
export { checkMisplaced, hasParts, type Misplaced } from './store-kit/misplaced-client.js'
export { readOptionFile } from './store-kit/option-file.js'
export { checkedTexts, OptionValues } from './store-kit/option-values.js'
export { importOptional, type OptionalPackage } from './store-kit/optional-package.js'
export { withOwnSignal } from './store-kit/own-signal.js'
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
export { type Operation, Requests, type RequestTransport } from './store-kit/requests.js'
export { inRounds } from './store-kit/rounds.js'
export { closedError, misconfiguredFor } from './store-kit/store-errors.js'
export { Subscription, type SubscriptionSource } from './store-kit/subscription.js'
export { untilAborted } from './store-kit/until-aborted.js'
export {
  endOfSecond,
  isSettled,
  KNOWN_NAMES,
  SECOND,
  settling,
  tokenTime,
  type WriteStamp,
} from './store-kit/write-time.js'
export { type VersionStamp, WriteTimes } from './store-kit/write-times.js'
export { AbortListeners } from './time/abort-listeners.js'
export { machineTime, wallTime } from './time/machine-clock.js'
export { systemRandom } from './time/system-random.js'
export { validityOf } from './time/validity.js'
