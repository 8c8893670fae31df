import { fencedTtl, fenceReserve } from '../settings/fence-times.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { TimeoutSettings } from '../settings/timeout-settings.js'
import type { LeaseStore } from '../store/lease-store.js'

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
  readonly #timeouts: TimeoutSettings
  /** How much earlier the validity ends, so that the process can be ended in time: 0 without a self-fence. */
  readonly fenceReserve: number

  constructor(settings: RuledSettings, store: LeaseStore) {
    this.#settings = settings
    this.#store = store
    this.#timeouts = settings.timeouts
    this.fenceReserve = settings.selfFence === undefined ? 0 : fenceReserve(this.ttl)
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
    return this.#timeouts.heartbeatTimeout
  }

  get heartbeatInterval(): number {
    return this.#timeouts.heartbeatInterval
  }

  get operationTimeout(): number {
    return this.#timeouts.operationTimeout
  }

  get maxHold(): number {
    return this.#settings.maxHold
  }

  /** The times from which a strategy plans heartbeats. It counts back from the end of the validity. */
  get plannedTimes(): TimeoutSettings {
    if (this.fenceReserve === 0) return this.#timeouts
    const { heartbeatInterval, heartbeatTimeout, operationTimeout, strategy } = this.#timeouts
    return { heartbeatInterval, heartbeatTimeout: fencedTtl(heartbeatTimeout), operationTimeout, strategy }
  }

  /** Whether grants are renewed only by hand: no heartbeat is sent by itself. */
  get manual(): boolean {
    return this.#timeouts.strategy.isManual === true
  }

  /** Whether the first heartbeat of a grant, and the first after failures, is sent when it is planned. */
  get exact(): boolean {
    return this.#timeouts.strategy.isExact === true
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
