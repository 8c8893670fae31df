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

export function rulesOf(settings: RuledSettings, store: LeaseStore): LeaseRules {
  return new RulesOfLease(settings, store)
}

type RuledSettings = Pick<LeaseSettings, 'name' | 'owner' | 'timeouts' | 'maxHold' | 'selfFence'>

/** Reads each constant where it is: a copy would make up a tenth of the memory of a held lease. */
class RulesOfLease implements LeaseRules {
  readonly #settings: RuledSettings
  readonly #store: LeaseStore

  constructor(settings: RuledSettings, store: LeaseStore) {
    this.#settings = settings
    this.#store = store
  }

  get name(): string {
    return this.#settings.name
  }

  get owner(): string {
    return this.#settings.owner
  }

  get kind(): string {
    return this.#store.kind ?? 'custom'
  }

  get ttl(): number {
    return this.#settings.timeouts.heartbeatTimeout
  }

  get heartbeatInterval(): number {
    return this.#settings.timeouts.heartbeatInterval
  }

  get operationTimeout(): number {
    return this.#settings.timeouts.operationTimeout
  }

  get maxHold(): number {
    return this.#settings.maxHold
  }

  get fenceReserve(): number {
    return this.#settings.selfFence === undefined ? 0 : fenceReserve(this.ttl)
  }

  get manual(): boolean {
    return this.#settings.timeouts.strategy.isManual === true
  }

  get watched(): boolean {
    return this.#store.watch !== undefined
  }

  get ordered(): boolean {
    return this.#store.limits.ordered
  }
}

/** The times from which a strategy plans heartbeats: it counts back from the end of the validity, which a fence brings forward. */
export function fencedTimes({ timeouts, selfFence }: LeaseSettings): TimeoutSettings {
  if (selfFence === undefined) return timeouts
  const { heartbeatInterval, heartbeatTimeout, operationTimeout, strategy } = timeouts
  return { heartbeatInterval, heartbeatTimeout: fencedTtl(heartbeatTimeout), operationTimeout, strategy }
}
