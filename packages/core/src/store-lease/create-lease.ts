import { checkOptionNames, type OptionNames } from '../errors/option-names.js'
import { LeaseSettings, type LeaseSettingsOptions } from '../settings/lease-settings.js'
import { type TimeoutOptions, TimeoutSettings } from '../settings/timeout-settings.js'
import type { LeaseStore } from '../store/lease-store.js'
import { StoreLease } from './store-lease.js'
import type { StoreLeaseEnvironment } from './store-lease-environment.js'

/** The durations, the environment and the other settings of a lease. `retryInterval` is a setting of actors. */
export interface CreateLeaseOptions
  extends TimeoutOptions,
    StoreLeaseEnvironment,
    Omit<LeaseSettingsOptions, 'name' | 'timeouts' | 'retryInterval' | 'options'> {}

/** For packages that create leases of their own with the same options. */
export const createLeaseOptionNames: OptionNames<CreateLeaseOptions> = {
  owner: true,
  heartbeatTimeout: true,
  heartbeatInterval: true,
  operationTimeout: true,
  strategy: true,
  objective: true,
  maxHold: true,
  childGrace: true,
  selfFence: true,
  unresponsiveAfter: true,
  clock: true,
  logger: true,
  random: true,
  recorder: true,
  parent: true,
}

/**
 * A lease on `name` in the store. Throws a `LeaseNameError` or a `LeaseConfigurationError` if a setting is invalid, or
 * unknown.
 */
export function createLease(store: LeaseStore, name: string, options: CreateLeaseOptions = {}): StoreLease {
  const { settings, environment } = leaseParts('createLease', name, options)
  return new StoreLease(settings, store, environment)
}

/** The arguments of the constructor of `StoreLease`. */
export interface LeaseParts {
  readonly settings: LeaseSettings
  readonly environment: StoreLeaseEnvironment
}

/**
 * The parts of the lease that `options` describe, for every function that makes leases with the options of `createLease`.
 * `maker`: the function, for errors. Throws a `LeaseNameError` or a `LeaseConfigurationError` if a setting is invalid, or
 * unknown.
 */
export function leaseParts(maker: string, name: string, options: CreateLeaseOptions): LeaseParts {
  checkOptionNames(maker, options, createLeaseOptionNames, { leaseName: name })
  const { heartbeatTimeout, heartbeatInterval, operationTimeout, strategy, objective } = options
  const { owner, maxHold, childGrace, selfFence, unresponsiveAfter } = options
  const { clock, logger, random, recorder, parent } = options
  // All properties are required here, so that the compiler reports a forgotten option.
  const durations: Required<TimeoutOptions> = {
    heartbeatTimeout,
    heartbeatInterval,
    operationTimeout,
    strategy,
    objective,
  }
  const environment: Required<StoreLeaseEnvironment> = { clock, logger, random, recorder, parent }
  const timeouts = new TimeoutSettings(durations)
  const settings: Required<Omit<LeaseSettingsOptions, 'retryInterval' | 'options'>> = {
    name,
    owner,
    timeouts,
    maxHold,
    childGrace,
    selfFence,
    unresponsiveAfter,
  }
  return { settings: new LeaseSettings(settings), environment }
}

/** The objective, or else the durations: both cannot be given. */
function durationsOf({ heartbeatTimeout, heartbeatInterval, operationTimeout, strategy, objective }: TimeoutSettings) {
  const durations: Required<TimeoutOptions> =
    objective === undefined
      ? { heartbeatTimeout, heartbeatInterval, operationTimeout, strategy, objective }
      : { ...noDurations, objective }
  return durations
}

const noDurations: Required<TimeoutOptions> = {
  heartbeatTimeout: undefined,
  heartbeatInterval: undefined,
  operationTimeout: undefined,
  strategy: undefined,
  objective: undefined,
}

/** The options of `createLease` that make leases with these settings, for packages that read settings from a configuration. */
export function leaseOptionsOf(settings: LeaseSettings): Omit<CreateLeaseOptions, keyof StoreLeaseEnvironment> {
  const { owner, maxHold, childGrace, selfFence, unresponsiveAfter, timeouts } = settings
  const durations = durationsOf(timeouts)
  const others: Required<Omit<CreateLeaseOptions, keyof TimeoutOptions | keyof StoreLeaseEnvironment>> = {
    owner,
    maxHold: maxHold === Number.POSITIVE_INFINITY ? undefined : maxHold,
    childGrace,
    selfFence,
    unresponsiveAfter,
  }
  return { ...durations, ...others }
}
