import { fencedTtl, fenceReserve } from '../settings/fence-times.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { TimeoutSettings } from '../settings/timeout-settings.js'
import type { LeaseStore } from '../store/lease-store.js'

/** The constants of a lease and its store, for the transition function. Durations in milliseconds. */
export interface LeaseRules {
  readonly name: string
  readonly owner: string
  readonly kind: string
  /** `Infinity` for a lease that does not expire. */
  readonly ttl: number
  readonly heartbeatInterval: number
  readonly operationTimeout: number
  readonly maxHold: number
  /** How much earlier the validity ends, so that the process can be ended in time: 0 without a self-fence. */
  readonly fenceReserve: number
  /** The times from which a strategy plans heartbeats. It counts back from the end of the validity. */
  readonly plannedTimes: TimeoutSettings
  /** Whether grants are renewed only by hand: no heartbeat is sent by itself. */
  readonly manual: boolean
  /** Whether the first heartbeat of a grant, and the first after failures, is sent exactly when it is planned. */
  readonly exact: boolean
  /** Whether the store wakes waiters, so that polling is only the safety net. */
  readonly watched: boolean
  /** Whether the store keeps waiters in a queue. */
  readonly ordered: boolean
  /** Whether the store counts the time left of a record only from when this process saw it. */
  readonly observed: boolean
}

/** The durations of a lease whose objective chooses them. */
type ChosenTimes = Pick<TimeoutSettings, 'heartbeatInterval' | 'heartbeatTimeout' | 'operationTimeout'>

type RuledSettings = Pick<LeaseSettings, 'name' | 'owner' | 'timeouts' | 'maxHold' | 'selfFence'>

/** `chosen`: the durations, where they are not those of the settings. */
export function rulesOf(settings: RuledSettings, store: LeaseStore, chosen?: ChosenTimes): LeaseRules {
  const { name, owner, timeouts, maxHold, selfFence } = settings
  const { heartbeatTimeout: ttl, heartbeatInterval, operationTimeout } = chosen ?? timeouts
  const { strategy } = timeouts
  const isFenced = selfFence !== undefined
  return {
    name,
    owner,
    kind: store.kind ?? 'custom',
    ttl,
    heartbeatInterval,
    operationTimeout,
    maxHold,
    fenceReserve: isFenced ? fenceReserve(ttl) : 0,
    plannedTimes: isFenced
      ? { heartbeatInterval, heartbeatTimeout: fencedTtl(ttl), operationTimeout, strategy }
      : chosen === undefined
        ? timeouts
        : { heartbeatInterval, heartbeatTimeout: ttl, operationTimeout, strategy },
    manual: strategy.isManual === true,
    exact: strategy.isExact === true,
    watched: store.watch !== undefined,
    ordered: store.limits.ordered,
    observed: store.limits.observed === true,
  }
}
