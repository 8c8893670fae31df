import type { TimeoutOptions } from '@leasehold/core'
import { checkOptionNames, type OptionNames } from '@leasehold/core/store'
import { contend } from './contend.js'
import { createPlan, type SimulationOptions } from './plan.js'
import { runPlan, type SimulationReport } from './run-plan.js'
import { shrink } from './shrink.js'
import { SimulationError } from './simulation-error.js'

const optionNames: OptionNames<SimulationOptions> = {
  seed: true,
  nodes: true,
  workload: true,
  faults: true,
  duration: true,
  store: true,
  timeouts: true,
  plan: true,
}

const timeoutNames: OptionNames<TimeoutOptions> = {
  heartbeatInterval: true,
  heartbeatTimeout: true,
  operationTimeout: true,
  strategy: true,
}

/**
 * Runs nodes with the unmodified engine over a simulated network and store, in virtual time, and checks after each step
 * that at most one of them holds the lease; see `checks` for all rules. Deterministic: the same seed gives the same
 * history. Rejects with a `LeaseConfigurationError` for an unknown option.
 *
 * Rejects with a `SimulationError` when a rule is broken: with the seed, the smallest plan found that breaks the rule,
 * and its timeline.
 */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  checkOptionNames('simulate', options, optionNames)
  checkOptionNames<TimeoutOptions>('timeouts', options.timeouts ?? {}, timeoutNames)
  const { workload = contend } = options
  const scenario = typeof workload === 'function' ? { workload } : workload
  const plan = options.plan ?? createPlan(options)
  const result = await runPlan(plan, scenario)
  if (result.violation === undefined) return result
  const smallest = await shrink(result, (smaller) => runPlan(smaller, scenario))
  throw new SimulationError(result, smallest)
}
