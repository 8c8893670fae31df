import { SimulationError, type SimulationOptions, type SimulationReport, simulate } from '@leasehold/simulator'

/** A range of seeds, for one worker to run. */
export interface SimulationPart {
  /** `engine` for its own workload, a scenario of leases under leases such as `broken-families`, `objectives`, `moves`, `short-lives`, or a recipe. */
  readonly scenario: string
  readonly from: number
  readonly count: number
  /** Whether the part is one guided search, started by its first seed. */
  readonly guided?: boolean
}

/** The result of a range of seeds. */
export interface SimulationSum {
  schedules: number
  steps: number
  grants: number
  losses: number
  writes: number
  /** Processor time in seconds. */
  cpu: number
  failures: { readonly seed: number; readonly check: string; readonly message: string; readonly svg: string }[]
}

// Refused and failed calls are a part of most schedules, and a report shows no stacks: they would take a tenth of the time.
Error.stackTraceLimit = 0

/** Runs the seeds from the parent process, part after part, and reports the results. */
process.on('message', (part: SimulationPart) => {
  void runPart(part).then((sum) => process.send?.(sum))
})

async function runPart({ scenario, from, count, guided = false }: SimulationPart): Promise<SimulationSum> {
  const options = await optionsOf(scenario)
  const sum: SimulationSum = { schedules: 0, steps: 0, grants: 0, losses: 0, writes: 0, cpu: 0, failures: [] }
  const begun = process.cpuUsage()
  const run = guided ? await guidedRun(options, from) : (seed: number) => simulate({ ...options, seed })
  for (let seed = from; seed < from + count; seed += 1) {
    sum.schedules += 1
    try {
      const { steps, grants, losses, writes } = await run(seed)
      sum.steps += steps
      sum.grants += grants
      sum.losses += losses
      sum.writes += writes
    } catch (error) {
      if (!(error instanceof SimulationError)) throw error
      sum.failures.push({ seed, check: error.check, message: error.message, svg: error.svg() })
    }
  }
  const { user, system } = process.cpuUsage(begun)
  sum.cpu = (user + system) / 1e6
  return sum
}

/** Plans that are changes of earlier ones; a failing plan is made smaller and printed as without guidance. */
async function guidedRun(
  options: Omit<SimulationOptions, 'seed'>,
  from: number,
): Promise<(seed: number) => Promise<SimulationReport>> {
  const { contend } = await import('../../testing/simulator/src/contend.js')
  const { GuidedSearch } = await import('../../testing/simulator/src/guided/guided-search.js')
  const { workload = contend, ...wishes } = options
  const search = new GuidedSearch(from, wishes, typeof workload === 'function' ? { workload } : workload)
  return async (seed) => {
    const result = await search.next()
    if (result.violation === undefined) return result
    await simulate({ seed, workload, plan: result.plan })
    throw new Error(`the run broke ${result.violation.check} once, and not again: ${JSON.stringify(result.plan)}`)
  }
}

async function optionsOf(name: string): Promise<Omit<SimulationOptions, 'seed'>> {
  if (name === 'engine') return {}
  const { ambientFaults } = await import('../../testing/simulator/src/planned-fault.js')
  const { familyScenarios } = await import('../../testing/simulator/test/families.js')
  const family = Object.entries(familyScenarios).find(([known]) => known === name)?.[1]
  // An observed store times no parents of other processes.
  if (family !== undefined) return { workload: family, store: 'server-timed', faults: ambientFaults }
  if (name === 'short-lives') {
    const { shortLives } = await import('../../testing/simulator/test/short-lives.js')
    return { workload: shortLives, store: 'observed', times: 'drawn', faults: ambientFaults }
  }
  // The engine's own workload over stores that keep times of their records.
  if (name === 'times') return { store: 'observed', times: 'drawn' }
  if (name === 'objectives') {
    const { objectiveScenario } = await import('../../testing/simulator/test/objectives.js')
    return { workload: objectiveScenario, faults: ambientFaults }
  }
  if (name === 'sharding' || name === 'singleton') {
    const { scenario, singletonScenario } = await import('../../packages/sharding/test/simulation/scenario.js')
    return { workload: name === 'singleton' ? singletonScenario : scenario }
  }
  if (name === 'moves') {
    const { moveScenario } = await import('../../testing/simulator/test/moves.js')
    return { workload: moveScenario, faults: ambientFaults }
  }
  const { scenario } = await import(`../../packages/recipes/test/${name}/scenario.ts`)
  return { workload: scenario }
}
