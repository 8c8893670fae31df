import type { Clock } from '../clock.js'

/** The time and the random number of an event: the transition function itself reads neither. */
export interface EventContext {
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

export function contextOf({ clock, random }: EngineEnvironment): EventContext {
  return {
    now: clock.now(),
    suspended: clock.suspended?.() ?? 0,
    // Drawn where it is used: the numbers that a seed brings then do not depend on events without jitter.
    get random() {
      return random()
    },
  }
}
