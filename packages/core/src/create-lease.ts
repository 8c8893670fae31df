import type { StoreLeaseEnvironment } from './lease-environment.js'
import { LeaseSettings } from './lease-settings.js'
import { checkOptionNames, type OptionNames } from './option-names.js'
import type { SelfFenceMode } from './self-fence/fence-times.js'
import type { LeaseStore } from './store/lease-store.js'
import { StoreLease } from './store-lease.js'
import { type TimeoutOptions, TimeoutSettings } from './timeout-settings.js'

export interface CreateLeaseOptions extends TimeoutOptions, StoreLeaseEnvironment {
  /** The name of the owner; `hostname-pid-<nanoid>` unless given. */
  readonly owner?: string | undefined
  /** The longest that one grant may be held, in milliseconds. */
  readonly maxHold?: number | undefined
  /** Allows children in other processes, see `LeaseSettings`. Milliseconds. */
  readonly childGrace?: number | undefined
  /** Ends a process that does not acknowledge the loss of the lease, see `LeaseSettings`. */
  readonly selfFence?: SelfFenceMode | undefined
  /** For how long a heartbeat thread renews for a thread that shows no sign of life, see `LeaseSettings`. Milliseconds. */
  readonly unresponsiveAfter?: number | undefined
}

/**
 * A lease on `name` in the store. Throws a `LeaseNameError` or a `LeaseConfigurationError` if a setting is invalid, or
 * unknown.
 */
export function createLease(store: LeaseStore, name: string, options: CreateLeaseOptions = {}): StoreLease {
  checkOptionNames('createLease', options, createLeaseOptionNames, { leaseName: name })
  const { owner, maxHold, childGrace, selfFence, unresponsiveAfter, clock, logger, random, parent } = options
  const timeouts = new TimeoutSettings(options)
  const settings = new LeaseSettings({ name, owner, timeouts, maxHold, childGrace, selfFence, unresponsiveAfter })
  return new StoreLease(settings, store, { clock, logger, random, parent })
}

/** For packages that create leases of their own with the same options. */
export const createLeaseOptionNames: OptionNames<CreateLeaseOptions> = {
  owner: true,
  heartbeatTimeout: true,
  heartbeatInterval: true,
  operationTimeout: true,
  strategy: true,
  maxHold: true,
  childGrace: true,
  selfFence: true,
  unresponsiveAfter: true,
  clock: true,
  logger: true,
  random: true,
  parent: true,
}
