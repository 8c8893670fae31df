import { type Scenario, simulate } from '@leasehold/simulator'
import { expect, it } from 'vitest'
import { Happenings, scenario } from './scenario.js'

const SCHEDULES = 250

it('an exclusive lock is alone, and tokens grow, under all faults', async () => {
  const all = new Set<Happenings>()
  for (let seed = 1; seed <= SCHEDULES; seed += 1) {
    const workload: Scenario = {
      ...scenario,
      workload: async (process) => {
        all.add(Happenings.of(process.shared))
        await scenario.workload(process)
      },
    }
    await simulate({ seed, workload })
  }
  const sum = (of: (happenings: Happenings) => number): number => [...all].reduce((total, one) => total + of(one), 0)
  expect(sum(({ granted }) => granted)).toBeGreaterThan(10 * SCHEDULES)
  expect(sum(({ refused }) => refused)).toBeGreaterThan(SCHEDULES)
  expect(sum(({ aborted }) => aborted)).toBeGreaterThan(SCHEDULES)
  expect(sum(({ stolen }) => stolen)).toBeGreaterThan(SCHEDULES / 10)
  expect(sum(({ lost }) => lost)).toBeGreaterThan(SCHEDULES / 10)
  expect(Math.max(...[...all].map(({ together }) => together))).toBeGreaterThan(2)
}, 600_000)
