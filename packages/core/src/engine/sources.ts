import type { Clock } from '../clock.js'

/** Where an engine takes time and chance from. */
export interface Sources {
  readonly clock: Clock
  /** From 0 to 1, 1 excluded: what jitter is drawn from. */
  readonly random: () => number
}
