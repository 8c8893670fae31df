import type { PlannedFault } from '../nemesis/planned-fault.js'

export interface ChaosOptions {
  /** Draws the schedule of faults, and what the clients do. */
  readonly seed: number
  /** How long the clients work, in milliseconds. */
  readonly duration: number
  readonly clients: number
  /** About how many operations are recorded in a second, while nothing fails. */
  readonly rate: number
  /** Kinds of faults that are left out unless they are named here: those of weight 0. */
  readonly with: readonly string[]
  /** Carried out instead of a schedule that is drawn. */
  readonly schedule?: readonly PlannedFault[] | undefined
}
