import { type CreateLeaseOptions, LeaseConfigurationError, type LeaseStore } from '@leasehold/core'
import {
  checkFault,
  createLeaseOptionNames,
  faultOfFlag,
  faultOfFunction,
  faultOfLimit,
  shownValue,
} from '@leasehold/core/internal'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store-kit'
import type { ScheduleOptions } from '@leasehold/recipes'

/** The options of leases that the module passes on to all that it makes. */
export type SharedLeaseOptions = Omit<CreateLeaseOptions, 'maxHold' | 'parent' | 'recorder'>

/** The options of each schedule that `guardCron` makes of a `@Cron` method: see `ScheduleOptions`. */
export type GuardCronOptions = Pick<ScheduleOptions, 'missed' | 'atMostFor' | 'atLeastFor'>

/** The options of `LeaseholdModule.forRoot`: durations in milliseconds. Those of leases are for all that the module makes. */
export interface LeaseholdModuleOptions extends SharedLeaseOptions {
  /** The store that all instances of the application share. */
  readonly store: LeaseStore
  /**
   * Whether the `@Cron` methods of the application run on one instance only; `false` unless given. An object gives options to
   * their schedules. `@Interval` and `@Timeout` methods run on every instance, and so do those with `@EveryInstance()`.
   */
  readonly guardCron?: boolean | GuardCronOptions | undefined
  /** The beginning of all lease names, such as `billing/`, where several applications share a store. Empty unless given. */
  readonly prefix?: string | undefined
  /** Whether the module closes the store when the application has shut down; `true` unless given. */
  readonly closeStore?: boolean | undefined
  /** For how long a shutdown waits for the work in progress, in milliseconds; 10 s unless given. */
  readonly stopTimeout?: number | undefined
  /** The wall clock of the schedules; the machine's unless given. For tests. */
  readonly now?: (() => Date) | undefined
}

const { maxHold: _, parent: __, recorder: ___, ...sharedNames } = createLeaseOptionNames
const sharedOptionNames: OptionNames<SharedLeaseOptions> = sharedNames

const optionNames: OptionNames<LeaseholdModuleOptions> = {
  ...sharedOptionNames,
  store: true,
  guardCron: true,
  prefix: true,
  closeStore: true,
  stopTimeout: true,
  now: true,
}

const guardOptionNames: OptionNames<GuardCronOptions> = { missed: true, atMostFor: true, atLeastFor: true }

const MODULE = 'LeaseholdModule'

/** Throws a `LeaseConfigurationError` that says which option is invalid. */
export function checkModuleOptions(options: LeaseholdModuleOptions): void {
  checkOptionNames(MODULE, Object(options), optionNames)
  const {
    store,
    guardCron = false,
    prefix = '',
    closeStore,
    stopTimeout,
    now,
  } = Object(options) as LeaseholdModuleOptions
  if (!isStore(store)) {
    throw wrong(`store must be a LeaseStore, such as new RedisLeaseStore(client), not ${shownValue(store)}`)
  }
  if (typeof prefix !== 'string') throw wrong(`prefix must be a text such as billing/, not ${shownValue(prefix)}`)
  if (typeof guardCron === 'object' && guardCron !== null) {
    checkOptionNames(`${MODULE}: guardCron`, guardCron, guardOptionNames)
  } else if (typeof guardCron !== 'boolean') {
    throw wrong(`guardCron must be true, false, or the options of the schedules, not ${shownValue(guardCron)}`)
  }
  checkFault(
    (closeStore === undefined ? undefined : faultOfFlag(`${MODULE}: closeStore`, closeStore)) ??
      (stopTimeout === undefined ? undefined : faultOfLimit(`${MODULE}: stopTimeout`, stopTimeout)) ??
      faultOfFunction(`${MODULE}: now`, now),
  )
}

/** The options of the module that every lease and recipe takes. */
export function sharedOptionsOf(options: LeaseholdModuleOptions): SharedLeaseOptions {
  const names = Object.keys(sharedOptionNames) as (keyof SharedLeaseOptions)[]
  return Object.fromEntries(names.map((name) => [name, options[name]]))
}

function isStore(store: unknown): boolean {
  const { acquire, renew, release, read } = Object(store) as Partial<LeaseStore>
  return [acquire, renew, release, read].every((method) => typeof method === 'function')
}

function wrong(message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(`${MODULE}: ${message}`)
}
