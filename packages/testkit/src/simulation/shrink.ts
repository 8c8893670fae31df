import type { CheckName } from './checks.js'
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
  const search = new Search(failing, run)
  let before: RunResult
  do {
    before = search.smallest
    await search.shorten()
    await search.dropFaults()
    await search.dropNodes()
    await search.calmClocks()
  } while (search.smallest !== before && search.runs < MOST_RUNS)
  return search.smallest
}

class Search {
  smallest: RunResult
  runs = 0
  readonly #check: CheckName | undefined
  readonly #run: (plan: SimulationPlan) => Promise<RunResult>

  constructor(failing: RunResult, run: (plan: SimulationPlan) => Promise<RunResult>) {
    this.smallest = failing
    this.#check = failing.violation?.check
    this.#run = run
  }

  async shorten(): Promise<void> {
    const { plan, violation } = this.smallest
    if (violation !== undefined && violation.at < plan.duration) await this.#try(lasting(plan, violation.at + 1))
    for (const part of [0.5, 0.75, 0.9])
      await this.#try(lasting(this.smallest.plan, this.smallest.plan.duration * part))
  }

  async dropFaults(): Promise<void> {
    for (let size = Math.ceil(this.smallest.plan.faults.length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let from = 0; from < this.smallest.plan.faults.length; ) {
        const { plan } = this.smallest
        const faults = [...plan.faults.slice(0, from), ...plan.faults.slice(from + size)]
        if (!(await this.#try({ ...plan, faults }))) from += size
      }
    }
  }

  async dropNodes(): Promise<void> {
    for (let node = this.smallest.plan.machines.length - 1; node >= 0; node -= 1) {
      const { plan } = this.smallest
      if (plan.machines.length > 1) await this.#try(without(plan, node))
    }
  }

  async calmClocks(): Promise<void> {
    const { plan } = this.smallest
    const calm = { drift: 0, skew: 0 }
    await this.#try({ ...plan, server: calm, machines: plan.machines.map(() => calm) })
    await this.#try({ ...this.smallest.plan, maxHold: undefined })
  }

  /** Takes the plan where it still breaks the same rule. */
  async #try(plan: SimulationPlan): Promise<boolean> {
    if (this.runs >= MOST_RUNS || JSON.stringify(plan) === JSON.stringify(this.smallest.plan)) return false
    this.runs += 1
    const result = await this.#run(plan)
    if (result.violation?.check !== this.#check) return false
    this.smallest = result
    return true
  }
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
  return { ...plan, faults, machines: plan.machines.filter((_, place) => place !== node) }
}
