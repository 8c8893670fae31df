import { simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { Happenings, scenario } from './scenario.js'

const SCHEDULES = 250

describe('leases that are held together are held by one process at a time', () => {
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
    expect(sum(({ grants }) => grants)).toBeGreaterThan(4 * SCHEDULES)
    expect(sum(({ refusals }) => refusals)).toBeGreaterThan(SCHEDULES)
    expect(sum(({ waits }) => waits)).toBeGreaterThan(SCHEDULES / 2)
    expect(sum(({ losses }) => losses)).toBeGreaterThan(SCHEDULES / 10)
  })
})
