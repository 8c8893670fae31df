import type { Rule } from '../../src/explore/broken-rule.js'

/** What an exploration with a deliberate bug has found. */
export interface Hunted {
  /** The rule that is broken; absent if none is. */
  readonly rule?: Rule | undefined
  /** The number of steps that lead there. */
  readonly steps: number
  /** How many states were looked at. */
  readonly states: number
}
