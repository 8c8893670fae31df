import { simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { type Fleet, scenario, singletonScenario } from './scenario.js'

const SCHEDULES = 100

describe.each([
  ['a region', scenario],
  ['a singleton', singletonScenario],
])('%s, in the simulator', (_, scenario) => {
  it(`keeps its rules, in ${SCHEDULES} schedules`, { timeout: 600_000 }, async () => {
    const totals: Record<string, number> = {}
    for (let seed = 1; seed <= SCHEDULES; seed += 1) {
      let fleet: Fleet | undefined
      await simulate({
        seed,
        workload: {
          ...scenario,
          findFault: (view) => {
            fleet = view.shared.get('fleet') as Fleet | undefined
            return scenario.findFault?.(view)
          },
        },
      })
      for (const [key, value] of Object.entries({ ...fleet?.totals, takeovers: fleet?.epochs ?? 0 })) {
        totals[key] = (totals[key] ?? 0) + value
      }
    }
    // The rules would hold in empty schedules too.
    expect(totals.handled).toBeGreaterThan(100 * SCHEDULES)
    expect(totals.confirmed).toBeGreaterThan(20 * SCHEDULES)
    expect(totals.answered).toBeGreaterThan(5 * SCHEDULES)
    expect(totals.unknown).toBeGreaterThan(SCHEDULES / 2)
    expect(totals['not-delivered']).toBeGreaterThan(SCHEDULES / 10)
    expect(totals.takeovers).toBeGreaterThan(2 * SCHEDULES)
  })
})
