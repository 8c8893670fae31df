import { LeaseConfigurationError, type LeaseStore } from '@leasehold/core'
import {
  checkFault,
  faultOfDuration,
  faultOfFlag,
  faultOfFunction,
  faultOfInterval,
  faultOfPause,
  shownValue,
} from '@leasehold/core/internal'
import type { LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import type { StartedRecipeOptions } from '@leasehold/recipes'
import { startedRecipeOptionNames } from '@leasehold/recipes/internal'
import type { AnyActorLogic } from 'xstate'
import type { EntityState } from './entity-state.js'
import type { Json } from './message.js'
import { checkDelivery, type Delivery } from './region-core.js'
import type { Transport } from './transport.js'

/** How the entities of a region work, and how messages reach them. */
export interface EntityOptions<Logic extends AnyActorLogic = AnyActorLogic> {
  /** The logic of each entity, such as a state machine. Its input is `{ id }`. */
  readonly entity: Logic
  /** Carries messages to the other processes. */
  readonly transport: Transport
  /** Keeps the snapshots of the entities. Without it, an entity starts with an empty state after its shard has moved. */
  readonly state?: EntityState | undefined
  /** The version of the snapshots that the entity makes, a whole number; 1 unless given. */
  readonly version?: number | undefined
  /** Makes a snapshot of this version from one of an older version. */
  readonly migrate?: ((snapshot: Json, version: number) => Json) | undefined
  /** How events are delivered unless `tell` says otherwise; `at-most-once` unless given. */
  readonly deliver?: Delivery | undefined
  /** The most events of this process that are held back, under way or not confirmed; 10,000 unless given. */
  readonly capacity?: number | undefined
  /** The most events that one entity has before it, queued or handled and not saved; 1,000 unless given. */
  readonly mailbox?: number | undefined
  /**
   * For how long an event is held back or repeated while its entity cannot be reached, in milliseconds; twice the heartbeat
   * timeout unless given, so that it survives a takeover.
   */
  readonly holdFor?: number | undefined
}

export interface ShardRegionOptions<Logic extends AnyActorLogic = AnyActorLogic>
  extends StartedRecipeOptions,
    EntityOptions<Logic> {
  /** The number of shards, the same in all processes and for good: the shard of an entity depends on it. */
  readonly shards: number
  /** The time without an event after which an idle entity is stopped, in milliseconds; `Infinity` unless given. */
  readonly passivateAfter?: number | undefined
  /**
   * The time between two looks at the group, in milliseconds, see `PartitionGroup`. The heartbeat interval unless given, a
   * second at most: until the first look after its start, a process knows no shard.
   */
  readonly rebalanceInterval?: number | undefined
  /** Whether this process may run entities; `true` unless given. Otherwise it only sends. */
  readonly host?: boolean | undefined
}

/** For `checkOptionNames`. */
export const entityOptionNames: OptionNames<EntityOptions> = {
  entity: true,
  transport: true,
  state: true,
  version: true,
  migrate: true,
  deliver: true,
  capacity: true,
  mailbox: true,
  holdFor: true,
}

/** For `checkOptionNames`. */
export const shardRegionOptionNames: OptionNames<ShardRegionOptions> = {
  ...startedRecipeOptionNames,
  ...entityOptionNames,
  shards: true,
  passivateAfter: true,
  rebalanceInterval: true,
  host: true,
}

/** Throws a `LeaseConfigurationError` if an option is invalid, but for those that a `PartitionGroup` checks. */
export function checkRegionOptions(store: LeaseStore, options: ShardRegionOptions): void {
  const { name: leaseName, shards, passivateAfter, rebalanceInterval } = options
  const details = { leaseName, store: store?.kind ?? 'custom' }
  checkOptionNames('ShardRegion', options, shardRegionOptionNames, details)
  if (!(Number.isSafeInteger(shards) && shards >= 1)) {
    throw new LeaseConfigurationError(`shards must be a whole number of 1 or more, not ${shownValue(shards)}`, details)
  }
  checkFault(faultOfDuration('passivateAfter', passivateAfter), details)
  checkFault(faultOfFlag('host', options.host), details)
  checkFault(faultOfInterval('rebalanceInterval', rebalanceInterval), details)
  checkEntityOptions(options, details)
}

/** Throws a `LeaseConfigurationError` if an option of the entities is invalid. */
export function checkEntityOptions(options: EntityOptions, details: LeaseErrorDetails & { leaseName: string }): void {
  const { entity, transport, state, version, migrate, deliver, holdFor } = options
  const fail = (message: string): never => {
    throw new LeaseConfigurationError(message, details)
  }
  if (!has(entity, 'transition', 'getInitialSnapshot')) {
    fail(`entity must be actor logic of XState, such as a state machine, not ${shownValue(entity)}`)
  }
  if (!has(transport, 'listen', 'send', 'close')) {
    fail(`transport must be a Transport, such as httpTransport({ address }), not ${shownValue(transport)}`)
  }
  if (state !== undefined && !has(state, 'load', 'save')) {
    fail(`state must be an EntityState, such as postgresState(pool), not ${shownValue(state)}`)
  }
  if (version !== undefined && !Number.isSafeInteger(version)) {
    fail(`version must be a whole number, not ${shownValue(version)}`)
  }
  checkFault(faultOfFunction('migrate', migrate), details)
  checkFault(faultOfPause('holdFor', holdFor), details)
  if (deliver !== undefined) checkDelivery(deliver, details.leaseName)
  for (const option of ['capacity', 'mailbox'] as const) {
    const value = options[option]
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= 1)) {
      fail(`${option} must be a whole number of 1 or more, not ${shownValue(value)}`)
    }
  }
}

function has(value: unknown, ...methods: readonly string[]): boolean {
  return methods.every((method) => typeof Object(value)[method] === 'function')
}
