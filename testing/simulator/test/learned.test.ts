import { describe, expect, it } from 'vitest'
import { runShift } from '../../../bench/learned/shift.js'
import { shifts } from '../../../bench/learned/shifts.js'

describe.each([2_000, 5_000])('durations for a failover of %i ms, where the store changes', (failover) => {
  it.each(shifts)('$name: what is learned in a month is within a factor of what the oracle does', (shift) => {
    const { fixed, learned, oracle } = runShift(shift, { failover, falseLossesPerYear: 1 }, 2_000)
    expect(learned.month.losses).toBeLessThanOrEqual(2 * oracle.losses + 1)
    expect(learned.month.losses).toBeLessThanOrEqual(1.5 * fixed.losses + 1)
    if (learned.month.losses > 3) expect(learned.month.isWarning).toBe(true)
  })
})
