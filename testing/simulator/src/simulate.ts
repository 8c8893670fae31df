import { contend } from './contend.js'
import { failureOf } from './failure.js'
import { createPlan, type SimulationOptions } from './plan.js'
import { runPlan, type SimulationReport } from './run-plan.js'
import { shrink } from './shrink.js'

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
  const scenario = typeof workload === 'function' ? { workload } : workload
  const plan = options.plan ?? createPlan(options)
  const result = await runPlan(plan, scenario)
  if (result.violation === undefined) return result
  const smallest = await shrink(result, (smaller) => runPlan(smaller, scenario))
  throw failureOf(result, smallest)
}
