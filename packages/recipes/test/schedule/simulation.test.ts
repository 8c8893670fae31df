import { simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { Happenings, scenario } from './scenario.js'

const SCHEDULES = 250

describe('no tick and no run by hand is done twice, and none against the wish of an operator', () => {
  it(`in the schedules 1 to ${SCHEDULES}, with clocks up to an hour apart that are set meanwhile`, async () => {
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
    // Ticks were run, by several owners in most schedules; many works were completed, and many cut short.
    expect(sum(({ started }) => started)).toBeGreaterThan(4 * SCHEDULES)
    expect(sum(({ completed }) => completed)).toBeGreaterThan(2 * SCHEDULES)
    expect(sum(({ started, completed }) => started - completed)).toBeGreaterThan(SCHEDULES / 2)
    // Operators paused, resumed and asked for runs, and most of these were done.
    expect(sum(({ wishes }) => wishes.paused)).toBeGreaterThan(SCHEDULES / 5)
    expect(sum(({ wishes }) => wishes.resumed)).toBeGreaterThan(SCHEDULES / 3)
    expect(sum(({ wishes }) => wishes.requested)).toBeGreaterThan(SCHEDULES / 3)
    expect(sum(({ byHand }) => byHand.size)).toBeGreaterThan(SCHEDULES / 4)
    expect(sum(({ runs }) => new Set([...runs.values()].flat()).size)).toBeGreaterThan(1.5 * SCHEDULES)
  })
})
