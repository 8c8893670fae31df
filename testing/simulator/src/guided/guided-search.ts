import { Random } from '../../../../packages/testkit/src/random.js'
import { createPlan, type PlanWishes, type SimulationPlan } from '../plan.js'
import { type RunResult, runPlan } from '../run-plan.js'
import type { Scenario } from '../workload.js'
import { type KnownPlan, mutatePlan } from './plan-mutation.js'
import { StateCoverage } from './state-coverage.js'

/** The stream of the seed from which the changes are drawn; those of plans and runs have other numbers. */
const GUIDANCE = 21

/** The part of the plans that are drawn as without guidance: other timings and stores come from these only. */
const FRESH = 0.5

/** How many plans are kept. The oldest leave first. */
const MOST_KNOWN = 500

/** How many instants of new states are kept of each run. */
const MOST_INSTANTS = 32

/**
 * Draws plans by what earlier runs have reached. A plan whose run reached a new state is kept, and later plans are often
 * changes of kept ones. The same seed, wishes and scenario give the same plans. Each plan can be run again by itself.
 */
export class GuidedSearch {
  readonly #wishes: Omit<PlanWishes, 'seed'>
  readonly #scenario: Scenario
  readonly #random: Random
  readonly #coverage = new StateCoverage()
  readonly #known: KnownPlan[] = []
  #seed: number

  /** `seed`: of the first plan; each further plan that is drawn afresh has the next one. */
  constructor(seed: number, wishes: Omit<PlanWishes, 'seed'>, scenario: Scenario) {
    this.#wishes = wishes
    this.#scenario = scenario
    this.#random = new Random(seed).fork(GUIDANCE)
    this.#seed = seed
  }

  /** How many states the runs have reached so far. */
  get states(): number {
    return this.#coverage.size
  }

  /** Draws the next plan, and runs it. */
  async next(): Promise<RunResult> {
    const plan = this.#draw()
    const newAt: number[] = []
    this.#coverage.begin()
    const result = await runPlan(plan, this.#scenario, (simulation) => {
      if (this.#coverage.look(simulation) > 0) newAt.push(simulation.time.now)
    })
    if (newAt.length > 0) this.#keep({ plan, newAt: newAt.slice(-MOST_INSTANTS) })
    return result
  }

  #draw(): SimulationPlan {
    const seed = this.#seed
    this.#seed += 1
    const random = this.#random
    const [first, ...rest] = this.#known
    if (first === undefined || random.chance(FRESH)) return createPlan({ ...this.#wishes, seed })
    return mutatePlan(random.pick([first, ...rest]), random.pick([first, ...rest]), seed, random)
  }

  #keep(known: KnownPlan): void {
    this.#known.push(known)
    if (this.#known.length > MOST_KNOWN) this.#known.shift()
  }
}
