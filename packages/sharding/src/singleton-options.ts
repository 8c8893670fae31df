import { LeaseConfigurationError, type LeaseStore } from '@leasehold/core'
import {
  checkFault,
  createLeaseOptionNames,
  faultOfFlag,
  faultOfLimit,
  roomOf,
  shownValue,
} from '@leasehold/core/internal'
import { checkLeaseName, type LeaseErrorDetails } from '@leasehold/core/store'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import type { LeaderElectionOptions, StartedRecipeOptions } from '@leasehold/recipes'
import type { AnyActorLogic } from 'xstate'
import type { EntityState } from './entity-state.js'
import type { Json } from './message.js'
import type { Delivery } from './region-core.js'
import type { Transport } from './transport.js'

export interface SingletonOptions
  extends StartedRecipeOptions,
    Pick<LeaderElectionOptions, 'prepare' | 'rank' | 'preempt' | 'resignPause'> {
  /** The logic of the actor. Its input is `{ id }`: the name of the singleton. */
  readonly actor: AnyActorLogic
  /** Carries messages between the processes. */
  readonly transport: Transport
  /** Whether this process may run the actor; `true` unless given. Otherwise it only sends. */
  readonly host?: boolean | undefined
  /** Keeps the snapshot of the actor for the next process. Without it, the actor begins anew there. */
  readonly state?: EntityState | undefined
  /** The version of the snapshots that are saved; 1 unless given. */
  readonly version?: number | undefined
  /** Makes a snapshot of this version from one of an older version. */
  readonly migrate?: ((snapshot: Json, version: number) => Json) | undefined
  /** How events are delivered unless `tell` says otherwise; `at-most-once` unless given. */
  readonly deliver?: Delivery | undefined
  /** The most messages of this process that are held back or on their way; 10,000 unless given. */
  readonly capacity?: number | undefined
  /** For how long a message is held back while it is not known where the actor runs, in milliseconds; 30 s unless given. */
  readonly holdFor?: number | undefined
  /** The most events that the actor has before it; 10,000 unless given. */
  readonly mailbox?: number | undefined
  /** The time limit of a batch of messages to another process, in milliseconds; 5 s unless given. */
  readonly sendTimeout?: number | undefined
  /** The time limit of a call of the state, in milliseconds; 10 s unless given. */
  readonly stateTimeout?: number | undefined
}

const optionNames: OptionNames<SingletonOptions> = {
  ...createLeaseOptionNames,
  name: true,
  stopTimeout: true,
  keepAlive: true,
  prepare: true,
  rank: true,
  preempt: true,
  resignPause: true,
  actor: true,
  transport: true,
  host: true,
  state: true,
  version: true,
  migrate: true,
  deliver: true,
  capacity: true,
  holdFor: true,
  mailbox: true,
  sendTimeout: true,
  stateTimeout: true,
}

/** Throws a typed error if an option is unknown or not valid. Those of the election and its lease are checked there. */
export function checkSingletonOptions(options: SingletonOptions): void {
  const { name, host = true, actor, transport, state, version = 1, migrate, deliver = 'at-most-once' } = options
  checkOptionNames('Singleton', options, optionNames, { leaseName: name })
  checkLeaseName(name)
  const details: LeaseErrorDetails = { leaseName: name }
  checkFault(
    faultOfFlag('host', host) ??
      faultOfMethods(
        'actor',
        actor,
        ['transition', 'getInitialSnapshot'],
        'actor logic of XState, such as a machine',
      ) ??
      faultOfMethods('transport', transport, ['listen', 'send', 'close'], 'a transport, such as httpTransport(…)') ??
      (state === undefined
        ? undefined
        : faultOfMethods('state', state, ['load', 'save'], 'a state, such as postgresState(pool)')) ??
      faultOfCount('version', version) ??
      faultOfCount('capacity', options.capacity ?? 1) ??
      faultOfCount('mailbox', options.mailbox ?? 1) ??
      faultOfLimit('holdFor', options.holdFor ?? 0) ??
      faultOfTime('sendTimeout', options.sendTimeout ?? 1) ??
      faultOfTime('stateTimeout', options.stateTimeout ?? 1) ??
      (migrate === undefined || typeof migrate === 'function'
        ? undefined
        : `migrate must be a function, such as (snapshot, version) => …, not ${shownValue(migrate)}`) ??
      (deliver === 'at-most-once' || deliver === 'at-least-once'
        ? undefined
        : `deliver must be 'at-most-once' or 'at-least-once', not ${shownValue(deliver)}`),
    details,
  )
  if (typeof transport.address !== 'string' || transport.address === '') {
    const message = `transport.address must be the address at which other processes reach this one, not ${shownValue(transport.address)}`
    throw new LeaseConfigurationError(message, details)
  }
}

/** Whether the actor can be passed to a process that waits, without a gap. */
export function canTransfer({ change, list, limits }: LeaseStore, childGrace: unknown): boolean {
  return change !== undefined && list !== undefined && roomOf(limits) > 0 && childGrace === undefined
}

function faultOfMethods(option: string, value: unknown, methods: readonly string[], what: string): string | undefined {
  const has = methods.every((method) => typeof Object(value)[method] === 'function')
  return has ? undefined : `${option} must be ${what}, not ${shownValue(value)}`
}

function faultOfCount(option: string, value: unknown): string | undefined {
  return Number.isSafeInteger(value) && Number(value) >= 1
    ? undefined
    : `${option} must be a whole number of 1 or more, not ${shownValue(value)}`
}

function faultOfTime(option: string, value: unknown): string | undefined {
  return typeof value === 'number' && value > 0 && value < Number.POSITIVE_INFINITY
    ? undefined
    : `${option} must be a positive, finite number of milliseconds, not ${shownValue(value)}`
}
