import { describe, expect, it } from 'vitest'
import { type Outcome, runShift } from '../../../bench/learned/shift.js'
import { shifts } from '../../../bench/learned/shifts.js'

const DAYS = 2_000

/** Rates below this are equal: nobody notices a loss in ten years. */
const NONE = 0.1

const atLeast = ({ losses }: Outcome): number => Math.max(losses, NONE)

describe.each([2_000, 5_000])('durations for a failover of %i ms, where the store changes', (failover) => {
  const results = shifts.map((shift) => runShift(shift, { failover, falseLossesPerYear: 1 }, DAYS))

  it('what is learned in a month loses at most as many leases as fixed durations, and is no slower', () => {
    for (const { fixed, learned } of results) {
      expect(learned.month.losses).toBeLessThanOrEqual(1.1 * atLeast(fixed))
      if (fixed.losses < Number.POSITIVE_INFINITY) expect(learned.month.takeOver).toBeLessThan(fixed.takeOver + 10)
    }
  })

  it('an oracle saves no losses that matter, compared with what is learned in a month', () => {
    for (const { learned, oracle } of results) {
      expect(atLeast(learned.month)).toBeLessThanOrEqual(1.3 * atLeast(oracle))
    }
  })

  it('a process that loses more than the objective allows says so within a month', () => {
    for (const { learned } of results) {
      const { losses, isWarning } = learned.month
      if (losses > 2 && losses < Number.POSITIVE_INFINITY) expect(isWarning).toBe(true)
    }
  })
})
