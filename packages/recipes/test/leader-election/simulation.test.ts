import { simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { Elections } from './elections.js'
import { scenario } from './scenario.js'

const SCHEDULES = 250

describe('no two terms at once, and no other rule is broken', () => {
  it(`${SCHEDULES} schedules`, { timeout: 900_000 }, async () => {
    const all = new Set<Elections>()
    for (let seed = 1; seed <= SCHEDULES; seed += 1) {
      await simulate({
        seed,
        workload: {
          ...scenario,
          findFault: (view) => {
            all.add(Elections.of(view.shared as Map<string, unknown>))
            return scenario.findFault?.(view)
          },
        },
      })
    }
    const sum = (of: (elections: Elections) => number): number => [...all].reduce((total, one) => total + of(one), 0)
    // Something happened: terms began, were lost and given up, and observers saw it.
    expect(sum(({ terms }) => terms)).toBeGreaterThan(3 * SCHEDULES)
    expect(sum(({ ends }) => ends.lost)).toBeGreaterThan(SCHEDULES / 2)
    expect(sum(({ ends }) => ends.resigned)).toBeGreaterThan(SCHEDULES)
    expect(sum(({ transfers }) => transfers)).toBeGreaterThan(SCHEDULES / 2)
    expect(sum(({ changes }) => changes)).toBeGreaterThan(2 * SCHEDULES)
  })
})
