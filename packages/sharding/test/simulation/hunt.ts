import { SimulationError, simulate } from '@leasehold/simulator'
import { scenario } from './scenario.js'

/** How many schedules are tried to find a bug. */
const SCHEDULES = 1_000

// A bug can leave unhandled rejections behind.
process.on('unhandledRejection', () => {})
Error.stackTraceLimit = 0

/** The check that the bug in this bundle breaks first. */
async function brokenCheck(): Promise<string | undefined> {
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    try {
      await simulate({ seed, workload: scenario })
    } catch (error) {
      if (error instanceof SimulationError) return error.check
      throw error
    }
  }
  return undefined
}

const broken = await brokenCheck()
process.stdout.write(JSON.stringify(broken ?? 'none'), () => process.exit())
