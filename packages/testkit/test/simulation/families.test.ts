import { type SimulatedProcess, simulate } from '@leasehold/testkit/simulation'
import { describe, expect, it } from 'vitest'
import { families, familyFaults, remoteGrants } from './families.js'

const SCHEDULES = 75

describe('leases under leases', () => {
  for (const store of ['server-timed', 'observed'] as const) {
    it(`no child is valid without its parent (${store})`, { timeout: 600_000 }, async () => {
      let grants = 0
      let remote = 0
      for (let seed = 1; seed <= SCHEDULES; seed += 1) {
        let shared: ReadonlyMap<string, unknown> = new Map()
        const work = (process: SimulatedProcess): Promise<void> => {
          shared = process.shared
          return families.workload(process)
        }
        const workload = { ...families, workload: work }
        grants += (await simulate({ seed, store, workload, faults: familyFaults })).grants
        remote += remoteGrants(shared)
      }
      expect(grants).toBeGreaterThan(10 * SCHEDULES)
      // An observed store times no parents.
      if (store === 'server-timed') expect(remote).toBeGreaterThan(10 * SCHEDULES)
      else expect(remote).toBe(0)
    })
  }
})
