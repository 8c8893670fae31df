import { simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { Happenings, scenario } from './scenario.js'

const SCHEDULES = 250

describe('each job of a list is done by one process at a time, and not again', () => {
  it(`in the schedules 1 to ${SCHEDULES}`, async () => {
    const all = new Set<Happenings>()
    for (let seed = 1; seed <= SCHEDULES; seed += 1) {
      const workload = {
        ...scenario,
        workload: async (process: Parameters<typeof scenario.workload>[0]) => {
          all.add(Happenings.of(process.shared))
          await scenario.workload(process)
        },
      }
      await simulate({ seed, workload })
    }
    const sum = (of: (happenings: Happenings) => number): number => [...all].reduce((total, one) => total + of(one), 0)
    expect(all.size).toBe(SCHEDULES)
    expect(sum(({ works }) => works)).toBeGreaterThan(4 * SCHEDULES)
    expect(sum(({ lists }) => lists)).toBeGreaterThan(4 * SCHEDULES)
    expect(sum(({ doneElsewhere }) => doneElsewhere)).toBeGreaterThan(4 * SCHEDULES)
    expect(sum(({ losses }) => losses)).toBeGreaterThan(SCHEDULES / 20)
    // Jobs of processes that died were done again.
    expect(sum(({ works, begun }) => works - begun.size)).toBeGreaterThan(SCHEDULES / 10)
  })
})
