import { type Scenario, simulate } from '@leasehold/simulator'
import { expect, it } from 'vitest'
import { COUNTS, type Counts, scenario } from './scenario.js'

it('a writer is alone, and there are no more readers than stated, under all faults', async () => {
  const total: Counts = { read: 0, written: 0, upgradesRefused: 0, together: 0 }
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
    total.read += counts.read
    total.written += counts.written
    total.upgradesRefused += counts.upgradesRefused
    total.together = Math.max(total.together, counts.together)
  }
  expect(total.read).toBeGreaterThan(500)
  expect(total.written).toBeGreaterThan(200)
  expect(total.upgradesRefused).toBeGreaterThan(50)
  expect(total.together).toBe(2)
}, 600_000)
