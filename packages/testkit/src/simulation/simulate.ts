import type { TimeoutOptions } from '@leasehold/core'
import { contend } from './contend.js'
import { createPlan, type SimulatedStoreKind, type SimulationPlan } from './plan.js'
import type { FaultKind, PlannedFault } from './planned-fault.js'
import { runPlan, type SimulationReport } from './run-plan.js'
import { shrink } from './shrink.js'
import { SimulationError } from './simulation-error.js'
import type { Workload } from './workload.js'

export interface SimulationOptions {
  /** Any whole number. Options that are not given are drawn from it. The same seed gives the same history. */
  readonly seed: number
  /** How many nodes contend; 2 to 5 unless given. */
  readonly nodes?: number | undefined
  /** The work of each process. By default it claims, holds and releases the lease in every possible way. */
  readonly workload?: Workload | undefined
  /** The kinds of faults that may happen (all by default), or the exact faults with their times. */
  readonly faults?: readonly FaultKind[] | readonly PlannedFault[] | undefined
  /** For how long nodes work and faults happen, in milliseconds of virtual time. */
  readonly duration?: number | undefined
  /** The kind of store. */
  readonly store?: SimulatedStoreKind | undefined
  /** The timing of the leases. */
  readonly timeouts?: TimeoutOptions | undefined
  /** A whole plan, as a failing simulation prints it. Only `workload` is then read besides. */
  readonly plan?: SimulationPlan | undefined
}

/**
 * Runs nodes with the unmodified engine over a simulated network and store, in virtual time, and checks after each step
 * that at most one of them holds the lease; see `checks` for all rules. Deterministic: the same seed gives the same
 * history.
 *
 * Rejects with a `SimulationError` when a rule is broken: with the seed, the smallest plan found that breaks the rule,
 * and its timeline.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const { workload = contend } = options
  const plan = options.plan ?? createPlan(options)
  const result = await runPlan(plan, workload)
  if (result.violation === undefined) return result
  const smallest = await shrink(result, (smaller) => runPlan(smaller, workload))
  throw new SimulationError(result, smallest)
}
