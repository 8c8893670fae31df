import { SimulationError } from '@leasehold/testkit'
import { simulateCounter } from './simulated.js'

const SCHEDULES = 100

for (let seed = 1; seed <= SCHEDULES; seed += 1) await simulateCounter(seed, { guarded: true })
console.log(`with the guard: ${SCHEDULES} schedules, no update was lost`)

for (let seed = 1; seed <= SCHEDULES; seed += 1) {
  try {
    await simulateCounter(seed, { guarded: false })
  } catch (error) {
    if (!(error instanceof SimulationError)) throw error
    console.log(`without it: ${error.message.split('\n')[0]}\n\n${error.timeline}`)
    break
  }
}
