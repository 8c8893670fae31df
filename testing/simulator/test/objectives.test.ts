import { type SimulatedProcess, simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'
import { ambientFaults } from '../src/planned-fault.js'
import { type ObjectiveCounts, objectiveCounts, objectiveScenario } from './objectives.js'

const SCHEDULES = 75

describe('leases with an objective', { timeout: 600_000 }, () => {
  for (const store of ['server-timed', 'observed'] as const) {
    it(`no two holders overlap while ttl and interval change (${store})`, async () => {
      const totals: ObjectiveCounts = { changesOfHeld: 0, changes: 0, otherTtls: 0 }
      for (let seed = 1; seed <= SCHEDULES; seed += 1) {
        let shared: ReadonlyMap<string, unknown> = new Map()
        const workload = (process: SimulatedProcess): Promise<void> => {
          shared = process.shared
          return objectiveScenario.workload(process)
        }
        await simulate({ seed, store, workload: { ...objectiveScenario, workload }, faults: ambientFaults })
        for (const [event, count] of Object.entries(objectiveCounts(shared))) {
          totals[event as keyof ObjectiveCounts] += count
        }
      }
      expect(totals.changesOfHeld).toBeGreaterThan(SCHEDULES / 2)
      expect(totals.changes).toBeGreaterThan(SCHEDULES / 4)
      expect(totals.otherTtls).toBeGreaterThan(SCHEDULES)
    })
  }
})
