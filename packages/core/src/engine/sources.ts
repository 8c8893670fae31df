import type { Clock } from '../clock.js'

/** Where an engine takes time and chance from. */
export interface Sources {
  readonly clock: Clock
  /** The clock that the user gave, where `clock` guards it: leases with the same one share timers. */
  readonly userClock?: Clock | undefined
  /** From 0 to 1, 1 excluded: what jitter is drawn from. */
  readonly random: () => number
}
