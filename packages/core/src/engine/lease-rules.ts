import type { LeaseSettings } from '../lease-settings.js'
import { fencedTtl, fenceReserve } from '../self-fence/fence-times.js'
import type { LeaseStore } from '../store/lease-store.js'
import type { TimeoutSettings } from '../timeout-settings.js'

export function rulesOf(settings: RuledSettings, store: LeaseStore): LeaseRules {
  return new RulesOfLease(settings, store)
}

type RuledSettings = Pick<LeaseSettings, 'name' | 'owner' | 'timeouts' | 'maxHold' | 'selfFence'>

/** The constants of a lease and its store, for the transition function. Durations in milliseconds. */
export type LeaseRules = Pick<RulesOfLease, keyof RulesOfLease>

/** Reads each constant where it is: a copy would make up a tenth of the memory of a held lease. */
class RulesOfLease {
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

  /** `Infinity` for a lease that does not expire. */
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

  /** How much earlier the validity ends, so that the process can be ended in time: 0 without a self-fence. */
  get fenceReserve(): number {
    return this.#settings.selfFence === undefined ? 0 : fenceReserve(this.ttl)
  }

  /** Whether grants are renewed only by hand: no heartbeat is sent by itself. */
  get manual(): boolean {
    return this.#settings.timeouts.strategy.isManual === true
  }

  /** Whether the store wakes waiters, so that polling is only the safety net. */
  get watched(): boolean {
    return this.#store.watch !== undefined
  }

  /** Whether the store keeps waiters in a queue. */
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
