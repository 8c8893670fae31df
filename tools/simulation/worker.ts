import { type Scenario, SimulationError, simulate } from '@leasehold/testkit/simulation'

/** A range of seeds, for one worker to run. */
export interface SimulationPart {
  readonly from: number
  readonly count: number
  /** The recipe whose scenario runs; empty for the engine's own workload. */
  readonly recipe: string
}

/** The result of a range of seeds. */
export interface SimulationSum {
  schedules: number
  steps: number
  grants: number
  losses: number
  writes: number
  failures: { readonly seed: number; readonly check: string; readonly message: string; readonly svg: string }[]
}

/** Runs the seeds from the parent process, part after part, and reports the results. */
process.on('message', (part: SimulationPart) => {
  void runPart(part).then((sum) => process.send?.(sum))
})

async function runPart({ from, count, recipe }: SimulationPart): Promise<SimulationSum> {
  const workload = recipe === '' ? undefined : await scenarioOf(recipe)
  const sum = { schedules: 0, steps: 0, grants: 0, losses: 0, writes: 0, failures: [] as SimulationSum['failures'] }
  for (let seed = from; seed < from + count; seed += 1) {
    sum.schedules += 1
    try {
      const { steps, grants, losses, writes } = await simulate({ seed, workload })
      sum.steps += steps
      sum.grants += grants
      sum.losses += losses
      sum.writes += writes
    } catch (error) {
      if (!(error instanceof SimulationError)) throw error
      sum.failures.push({ seed, check: error.check, message: error.message, svg: error.svg() })
    }
  }
  return sum
}

async function scenarioOf(recipe: string): Promise<Scenario> {
  const { scenario } = await import(`../../packages/recipes/test/${recipe}/scenario.js`)
  return scenario
}
