import type { CheckName, FaultKind } from '@leasehold/simulator'
import type { Edit } from '@leasehold/testing/bundle-with-edits'
import type { FamilyScenario } from '../families.js'

/** A deliberate bug, and the checks or the law expected to catch it. */
export interface Mutant {
  readonly name: string
  /** Of sources of core. */
  readonly edits: readonly Edit[]
  /**
   * The check of the simulator that catches it first (or one of these, all the same), or a law that it breaks. `under`: the
   * one kind of faults that the simulator then has happen, where a mixture of all would take many schedules; or a scenario
   * of leases under leases, of leases with an objective, or of challengers with short lives.
   */
  readonly caughtBy:
    | {
        readonly check: readonly CheckName[]
        readonly under?: FaultKind | FamilyScenario | 'objectives' | 'short-lives'
      }
    | { readonly law: string }
}

/** The checks or laws that caught a bug. */
export interface Catch {
  readonly caughtBy: readonly string[]
  /** How many schedules of the simulator it took; 0 for laws. */
  readonly schedules: number
}
