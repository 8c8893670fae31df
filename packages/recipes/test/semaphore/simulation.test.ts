import { type Scenario, simulate } from '@leasehold/simulator'
import { expect, it } from 'vitest'
import { COUNTS, type Counts, scenario } from './scenario.js'

it('never are more permits valid than there are, under all faults', async () => {
  const total: Counts = { granted: 0, refused: 0, together: 0, resized: 0, deployed: 0 }
  for (let seed = 1; seed <= 250; seed += 1) {
    let counts: Counts | undefined
    const workload: Scenario = {
      ...scenario,
      findFault: (view) => {
        counts = view.shared.get(COUNTS) as Counts | undefined
        return scenario.findFault?.(view)
      },
    }
    await simulate({ seed, workload })
    if (counts === undefined) continue
    total.granted += counts.granted
    total.refused += counts.refused
    total.resized += counts.resized
    total.deployed += counts.deployed
    total.together = Math.max(total.together, counts.together)
  }
  expect(total.granted).toBeGreaterThan(2_000)
  expect(total.refused).toBeGreaterThan(100)
  expect(total.resized).toBeGreaterThan(20)
  expect(total.deployed).toBeGreaterThan(20)
  expect(total.together).toBe(3)
}, 600_000)
