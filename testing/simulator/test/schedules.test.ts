import { simulate } from '@leasehold/simulator'
import { describe, expect, it } from 'vitest'

/** How many schedules this test runs; `npm run simulate` takes as many as one likes. */
const SCHEDULES = 1_000
const PARTS = 4

describe('no two holders overlap, and no other rule is broken', () => {
  for (let part = 0; part < PARTS; part += 1) {
    const from = 1 + part * (SCHEDULES / PARTS)
    const to = from + SCHEDULES / PARTS - 1
    it(`seeds ${from} to ${to}`, { timeout: 900_000 }, async () => {
      let grants = 0
      let losses = 0
      for (let seed = from; seed <= to; seed += 1) {
        const report = await simulate({ seed })
        grants += report.grants
        losses += report.losses
      }
      // Something happened: leases were granted, and lost.
      expect(grants).toBeGreaterThan(SCHEDULES / PARTS)
      expect(losses).toBeGreaterThan(SCHEDULES / PARTS)
    })
  }
})
