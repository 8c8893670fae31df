import type { TimeoutOptions } from '@leasehold/core'
import { contend } from './contend.js'
import { createPlan, type SimulatedStoreKind, type SimulationPlan } from './plan.js'
import type { FaultKind, PlannedFault } from './planned-fault.js'
import { runPlan, type SimulationReport } from './run-plan.js'
import { shrink } from './shrink.js'
import { SimulationError } from './simulation-error.js'
import type { Workload } from './workload.js'

export interface SimulationOptions {
  /** Any whole number: whatever is not given is drawn from it. The same seed brings the same history. */
  readonly seed: number
  /** How many nodes contend; 2 to 5 unless given. */
  readonly nodes?: number | undefined
  /** What each process does; unless given, it claims, holds and leaves the lease in every way there is. */
  readonly workload?: Workload | undefined
  /** What may happen (kinds of faults; everything unless given), or exactly what happens, and when. */
  readonly faults?: readonly FaultKind[] | readonly PlannedFault[] | undefined
  /** For how long nodes work and faults happen, in milliseconds of virtual time. */
  readonly duration?: number | undefined
  /** What times the leases. */
  readonly store?: SimulatedStoreKind | undefined
  /** The timing of the leases. */
  readonly timeouts?: TimeoutOptions | undefined
  /** A whole plan, as a failing run prints it: the rest is then not looked at, but for the workload. */
  readonly plan?: SimulationPlan | undefined
}

/**
 * Runs nodes with the unmodified engine over a simulated network and store, in virtual time, and checks after each step
 * that at most one of them holds the lease; see `checks` for all that is looked at. Deterministic: the same seed brings
 * the same history.
 *
 * Rejects with a `SimulationError` where a rule is broken: with the seed, the smallest plan found that still breaks it,
 * and a timeline of that.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const { workload = contend } = options
  const plan = options.plan ?? createPlan(options)
  const result = await runPlan(plan, workload)
  if (result.violation === undefined) return result
  const smallest = await shrink(result, (smaller) => runPlan(smaller, workload))
  throw new SimulationError(result, smallest)
}
