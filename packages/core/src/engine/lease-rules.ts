import type { LeaseSettings } from '../lease-settings.js'
import { fencedTtl, fenceReserve } from '../self-fence/fence-times.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { TimeoutSettings } from '../timeout-settings.js'

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
  /** Whether grants are renewed only by hand: no heartbeat is sent by itself. */
  readonly manual: boolean
  /** Whether the store wakes waiters, so that polling is only the safety net. */
  readonly watched: boolean
  /** Whether the store keeps waiters in a queue. */
  readonly ordered: boolean
}

export function rulesOf(settings: LeaseSettings, store: LeaseStore): LeaseRules {
  const { name, owner, timeouts, maxHold, selfFence } = settings
  return {
    name,
    owner,
    kind: store.kind ?? 'custom',
    ttl: timeouts.heartbeatTimeout,
    heartbeatInterval: timeouts.heartbeatInterval,
    operationTimeout: timeouts.operationTimeout,
    maxHold,
    fenceReserve: selfFence === undefined ? 0 : fenceReserve(timeouts.heartbeatTimeout),
    manual: timeouts.strategy.isManual === true,
    watched: store.watch !== undefined,
    ordered: store.limits.ordered,
  }
}

/** The times from which a strategy plans heartbeats: it counts back from the end of the validity, which a fence brings forward. */
export function fencedTimes({ timeouts, selfFence }: LeaseSettings): TimeoutSettings {
  if (selfFence === undefined) return timeouts
  const { heartbeatInterval, heartbeatTimeout, operationTimeout, strategy } = timeouts
  return { heartbeatInterval, heartbeatTimeout: fencedTtl(heartbeatTimeout), operationTimeout, strategy }
}
