import { type SimulatedProcess, simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { ambientFaults } from '../src/planned-fault.js'
import { type MoveCounts, moveCounts, moveScenario } from './moves.js'

const SCHEDULES = 75

describe('a fleet that moves its leases to another store, and back', { timeout: 600_000 }, () => {
  it('has one holder at a time, and tokens grow', async () => {
    const totals: MoveCounts = { grants: 0, crossings: 0, faults: 0 }
    for (let seed = 1; seed <= SCHEDULES; seed += 1) {
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
