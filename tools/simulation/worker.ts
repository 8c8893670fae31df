import { SimulationError, type SimulationOptions, simulate } from '@leasehold/simulator'

/** A range of seeds, for one worker to run. */
export interface SimulationPart {
  readonly from: number
  readonly count: number
  /** The recipe whose scenario runs; empty for the engine's own workload. */
  readonly recipe: string
  /** The scenario of leases under leases that runs instead, if not empty. */
  readonly families: string
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

// Refused and failed calls are a part of most schedules, and a report shows no stacks: they would take a tenth of the time.
Error.stackTraceLimit = 0

/** Runs the seeds from the parent process, part after part, and reports the results. */
process.on('message', (part: SimulationPart) => {
  void runPart(part).then((sum) => process.send?.(sum))
})

async function runPart({ from, count, recipe, families }: SimulationPart): Promise<SimulationSum> {
  const options = families === '' ? await recipeOf(recipe) : await familyOf(families)
  const sum = { schedules: 0, steps: 0, grants: 0, losses: 0, writes: 0, failures: [] as SimulationSum['failures'] }
  for (let seed = from; seed < from + count; seed += 1) {
    sum.schedules += 1
    try {
      const { steps, grants, losses, writes } = await simulate({ ...options, seed })
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

async function recipeOf(recipe: string): Promise<Omit<SimulationOptions, 'seed'>> {
  if (recipe === '') return {}
  const { scenario } = await import(`../../packages/recipes/test/${recipe}/scenario.ts`)
  return { workload: scenario }
}

async function familyOf(name: string): Promise<Omit<SimulationOptions, 'seed'>> {
  const { familyFaults, familyScenarios } = await import('../../testing/simulator/test/families.js')
  const workload = Object.entries(familyScenarios).find(([known]) => known === name)?.[1]
  if (workload === undefined) throw new TypeError(`there are ${Object.keys(familyScenarios)}, not '${name}'`)
  // An observed store times no parents of other processes.
  return { workload, store: 'server-timed', faults: familyFaults }
}
