import { simulate } from '@leasehold/testkit/simulation'
import { describe, expect, it } from 'vitest'
import { families, familyFaults } from './families.js'

const SCHEDULES = 150

describe('leases under leases', () => {
  for (const store of ['server-timed', 'observed'] as const) {
    it(`no child is valid without its parent (${store})`, { timeout: 300_000 }, async () => {
      let grants = 0
      for (let seed = 1; seed <= SCHEDULES; seed += 1) {
        grants += (await simulate({ seed, store, workload: families, faults: familyFaults })).grants
      }
      expect(grants).toBeGreaterThan(10 * SCHEDULES)
    })
  }
})
