import { fencedTtl, fenceReserve } from '../settings/fence-times.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { TimeoutSettings } from '../settings/timeout-settings.js'
import type { StoreTraits } from './store-traits.js'

/** The constants of a lease and its store, for the transition function. Durations in milliseconds. */
export interface LeaseRules extends StoreTraits {
  readonly name: string
  readonly owner: string
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
}

/** The durations of a lease whose objective chooses them. */
type ChosenTimes = Pick<TimeoutSettings, 'heartbeatInterval' | 'heartbeatTimeout' | 'operationTimeout'>

type RuledSettings = Pick<LeaseSettings, 'name' | 'owner' | 'timeouts' | 'maxHold' | 'selfFence'>

/** `chosen`: the durations, where they are not those of the settings. */
export function rulesOf(settings: RuledSettings, traits: StoreTraits, chosen?: ChosenTimes): LeaseRules {
  return new RulesOfLease(settings, traits, chosen)
}

/** Reads the rules where they stand: a copy for each lease would be a tenth of what a held lease takes in memory. */
class RulesOfLease implements LeaseRules {
  readonly #settings: RuledSettings
  readonly #traits: StoreTraits
  readonly #chosen: ChosenTimes | undefined

  constructor(settings: RuledSettings, traits: StoreTraits, chosen: ChosenTimes | undefined) {
    this.#settings = settings
    this.#traits = traits
    this.#chosen = chosen
  }

  get name(): string {
    return this.#settings.name
  }

  get owner(): string {
    return this.#settings.owner
  }

  get ttl(): number {
    return (this.#chosen ?? this.#settings.timeouts).heartbeatTimeout
  }

  get heartbeatInterval(): number {
    return (this.#chosen ?? this.#settings.timeouts).heartbeatInterval
  }

  get operationTimeout(): number {
    return (this.#chosen ?? this.#settings.timeouts).operationTimeout
  }

  get maxHold(): number {
    return this.#settings.maxHold
  }

  get fenceReserve(): number {
    return this.#settings.selfFence === undefined ? 0 : fenceReserve(this.ttl)
  }

  get plannedTimes(): TimeoutSettings {
    const { timeouts, selfFence } = this.#settings
    if (selfFence === undefined && this.#chosen === undefined) return timeouts
    const { ttl, heartbeatInterval, operationTimeout } = this
    const heartbeatTimeout = selfFence === undefined ? ttl : fencedTtl(ttl)
    return { heartbeatInterval, heartbeatTimeout, operationTimeout, strategy: timeouts.strategy }
  }

  get manual(): boolean {
    return this.#settings.timeouts.strategy.isManual === true
  }

  get exact(): boolean {
    return this.#settings.timeouts.strategy.isExact === true
  }

  get kind(): string {
    return this.#traits.kind
  }

  get watched(): boolean {
    return this.#traits.watched
  }

  get ordered(): boolean {
    return this.#traits.ordered
  }

  get observed(): boolean {
    return this.#traits.observed
  }
}
