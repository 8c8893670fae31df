import { simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { scenario } from './scenario.js'

const SCHEDULES = 250

describe('a group that shares partitions, in the simulator', () => {
  it(`has no partition with two owners, loses no position and becomes balanced, in ${SCHEDULES} schedules`, {
    timeout: 600_000,
  }, async () => {
    const totals = { assignments: 0, saves: 0, moves: 0, balanced: 0 }
    for (let seed = 1; seed <= SCHEDULES; seed += 1) {
      let shared: ReadonlyMap<string, unknown> = new Map()
      const { findFault, hasProgressed } = scenario
      const report = await simulate({
        seed,
        workload: {
          ...scenario,
          findFault: (view) => {
            shared = view.shared
            return findFault?.(view)
          },
          hasProgressed: (view) => {
            const isBalanced = hasProgressed?.(view) === true
            if (isBalanced) totals.balanced += 1
            return isBalanced
          },
        },
      })
      totals.assignments += Number(shared.get('assignments') ?? 0)
      totals.saves += Number(shared.get('saves') ?? 0)
      totals.moves += report.history.filter(
        ({ event, detail }) => event === 'granted' && /partitions.*token (?!1$)/.test(detail),
      ).length
    }
    expect(totals.balanced).toBeGreaterThanOrEqual(SCHEDULES)
    expect(totals.assignments).toBeGreaterThan(5 * SCHEDULES)
    expect(totals.saves).toBeGreaterThan(5 * SCHEDULES)
    expect(totals.moves).toBeGreaterThan(2 * SCHEDULES)
  })
})
