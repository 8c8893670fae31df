import { type SimulationReport, simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { Happenings, scenario } from './scenario.js'

const SCHEDULES = 250

describe('no value is used up twice', () => {
  it(`in the schedules 1 to ${SCHEDULES}`, async () => {
    const reports: SimulationReport[] = []
    const all: Happenings[] = []
    for (let seed = 1; seed <= SCHEDULES; seed += 1) {
      const workload = {
        ...scenario,
        workload: async (process: Parameters<typeof scenario.workload>[0]) => {
          const happenings = Happenings.of(process.shared)
          if (!all.includes(happenings)) all.push(happenings)
          await scenario.workload(process)
        },
      }
      reports.push(await simulate({ seed, workload }))
    }
    const sum = (of: (happenings: Happenings) => number): number => all.reduce((total, one) => total + of(one), 0)
    expect(reports.length).toBe(SCHEDULES)
    // Values were refreshed, got by many callers, and some refreshes failed, were interrupted, or ended behind their callers.
    expect(sum(({ refreshes }) => refreshes)).toBeGreaterThan(20 * SCHEDULES)
    expect(sum(({ got }) => got)).toBeGreaterThan(20 * SCHEDULES)
    expect(sum(({ refused }) => refused)).toBeGreaterThan(5 * SCHEDULES)
    expect(sum(({ interrupted }) => interrupted)).toBeGreaterThan(SCHEDULES / 2)
    expect(sum(({ behind }) => behind)).toBeGreaterThan(SCHEDULES / 2)
  })
})
