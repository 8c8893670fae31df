import type { SimulationPlan } from './plan.js'
import { endOf, type PlannedFault } from './planned-fault.js'
import type { RunResult } from './run-plan.js'

const MOST_RUNS = 300

/**
 * Makes a failing run smaller while it still breaks the same rule: fewer faults, fewer nodes, a shorter time, clocks that
 * do not drift. Greedy, by halves and then one by one, so that only needed parts remain.
 */
export async function shrink(
  failing: RunResult,
  run: (plan: SimulationPlan) => Promise<RunResult>,
): Promise<RunResult> {
  let smallest = failing
  let before: RunResult
  let runs = 0
  do {
    before = smallest
    for (const plan of smallerPlans(() => smallest)) {
      if (JSON.stringify(plan) === JSON.stringify(smallest.plan)) continue
      if (runs === MOST_RUNS) return smallest
      runs += 1
      const result = await run(plan)
      if (result.violation?.check === failing.violation?.check) smallest = result
    }
  } while (smallest !== before)
  return smallest
}

/** Each plan is made from the smallest so far, which the one before it may have become. */
function* smallerPlans(smallest: () => RunResult): Generator<SimulationPlan> {
  const { plan, violation } = smallest()
  if (violation !== undefined && violation.at < plan.duration) yield lasting(plan, violation.at + 1)
  for (const part of [0.5, 0.75, 0.9]) yield lasting(smallest().plan, smallest().plan.duration * part)
  for (let size = Math.ceil(smallest().plan.faults.length / 2); size >= 1; size = Math.floor(size / 2)) {
    for (let from = 0; from < smallest().plan.faults.length; ) {
      const { plan } = smallest()
      yield { ...plan, faults: plan.faults.toSpliced(from, size) }
      if (smallest().plan === plan) from += size
    }
  }
  for (let node = smallest().plan.machines.length - 1; node >= 0; node -= 1) {
    if (smallest().plan.machines.length > 1) yield without(smallest().plan, node)
  }
  const calm = { drift: 0, skew: 0 }
  yield { ...smallest().plan, server: calm, machines: smallest().plan.machines.map(() => calm) }
  yield { ...smallest().plan, maxHold: undefined }
}

/** The same plan, over earlier. */
function lasting(plan: SimulationPlan, longest: number): SimulationPlan {
  const duration = Math.ceil(longest)
  const faults = plan.faults.flatMap((fault): PlannedFault[] => {
    if (fault.at >= duration) return []
    return 'for' in fault && endOf(fault) > duration ? [{ ...fault, for: duration - fault.at }] : [fault]
  })
  return { ...plan, duration, faults }
}

/** The same plan without one node; the nodes after it get the next lower number. */
function without(plan: SimulationPlan, node: number): SimulationPlan {
  const faults = plan.faults.flatMap((fault): PlannedFault[] => {
    if (!('node' in fault) || fault.node < node) return [fault]
    return fault.node === node ? [] : [{ ...fault, node: fault.node - 1 }]
  })
  return { ...plan, faults, machines: plan.machines.toSpliced(node, 1) }
}
