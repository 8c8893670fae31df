import type { LeaseSettings } from '../lease-settings.js'
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
  /** Whether grants are renewed only by hand: no heartbeat is sent by itself. */
  readonly manual: boolean
  /** Whether the store wakes waiters, so that polling is only the safety net. */
  readonly watched: boolean
  /** Whether the store keeps waiters in a queue. */
  readonly ordered: boolean
}

export function rulesOf(settings: LeaseSettings, store: LeaseStore): LeaseRules {
  const { name, owner, timeouts, maxHold } = settings
  return {
    name,
    owner,
    kind: store.kind ?? 'custom',
    ttl: timeouts.heartbeatTimeout,
    heartbeatInterval: timeouts.heartbeatInterval,
    operationTimeout: timeouts.operationTimeout,
    maxHold,
    manual: timeouts.strategy.isManual === true,
    watched: store.watch !== undefined,
    ordered: store.limits.ordered,
  }
}
