import { SimulationError, simulate } from '@leasehold/testkit/simulation'
import type { SimulationPart, SimulationSum } from './part.js'

/** Runs the seeds from the parent process, part after part, and reports the results. */
process.on('message', (part: SimulationPart) => {
  void runPart(part).then((sum) => process.send?.(sum))
})

async function runPart({ from, count }: SimulationPart): Promise<SimulationSum> {
  const sum = { schedules: 0, steps: 0, grants: 0, losses: 0, writes: 0, failures: [] as SimulationSum['failures'] }
  for (let seed = from; seed < from + count; seed += 1) {
    sum.schedules += 1
    try {
      const { steps, grants, losses, writes } = await simulate({ seed })
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
