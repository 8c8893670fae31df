import { type SimulatedProcess, simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { ambientFaults } from '../src/planned-fault.js'
import { type MoveCounts, moveCounts, moveScenario } from './moves.js'

const SCHEDULES = 75

/** Two held at once here, when a release was sent between two requests with one grant id. */
const SHOWED_A_BUG = 3_000_821

describe('a fleet that moves its leases to another store, and back', { timeout: 600_000 }, () => {
  it('has one holder at a time, and tokens grow', async () => {
    const totals: MoveCounts = { grants: 0, crossings: 0, faults: 0 }
    const seeds = [...Array.from({ length: SCHEDULES }, (_, place) => place + 1), SHOWED_A_BUG]
    for (const seed of seeds) {
      let shared: ReadonlyMap<string, unknown> = new Map()
      const workload = (process: SimulatedProcess): Promise<void> => {
        shared = process.shared
        return moveScenario.workload(process)
      }
      await simulate({ seed, workload: { ...moveScenario, workload }, faults: ambientFaults })
      for (const [event, count] of Object.entries(moveCounts(shared))) totals[event as keyof MoveCounts] += count
    }
    expect(totals.grants).toBeGreaterThan(10 * SCHEDULES)
    expect(totals.crossings).toBeGreaterThan(2 * SCHEDULES)
    expect(totals.faults).toBeGreaterThan(10 * SCHEDULES)
  })
})
