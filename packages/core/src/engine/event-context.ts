import type { Clock } from '../clock.js'
import type { LeaseRules } from './lease-rules.js'

/** The rules of the lease, and the time and random number of an event: the transition function itself reads no clock. */
export interface EventContext {
  readonly rules: LeaseRules
  readonly now: number
  /** How much suspended time the clock has counted; 0 where it does not know. */
  readonly suspended: number
  /** From 0 to 1. */
  readonly random: number
}

/** Where an engine takes time and random numbers from. */
export interface EngineEnvironment {
  readonly clock: Clock
  /** The clock that the user gave, where `clock` guards it: leases with the same one share timers. */
  readonly userClock?: Clock | undefined
  /** Numbers from 0 to 1, 1 excluded: for jitter. */
  readonly random: () => number
}

/**
 * The context of an event that happens now. Suspended time and random numbers are read where a transition uses them: the
 * boot clock costs microseconds, and most events need neither.
 */
export class CurrentContext implements EventContext {
  readonly rules: LeaseRules
  readonly now: number
  readonly #environment: EngineEnvironment

  constructor(rules: LeaseRules, environment: EngineEnvironment) {
    this.rules = rules
    this.now = environment.clock.now()
    this.#environment = environment
  }

  get suspended(): number {
    return this.#environment.clock.suspended?.() ?? 0
  }

  get random(): number {
    return this.#environment.random()
  }
}
