import { SimulationError, simulate } from '@leasehold/simulator'
import { scenario } from './scenario.js'

/** Within so many schedules a bug has to be found. */
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
