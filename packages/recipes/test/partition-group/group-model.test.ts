import { describe, expect, it } from 'vitest'
import { churn } from '../../bench/partitions/curves.js'
import { changes, rebalance, TTL_ROUNDS } from '../../bench/partitions/rebalancings.js'

/** Ten thousand partitions take the benchmark a minute: here are enough to tell the rules apart. */
const PARTITIONS = 1_000

describe('a model of a group', () => {
  for (const change of changes) {
    it(`is balanced in a few rounds with the least number of moves: ${change}`, () => {
      const waits = change === 'a tenth dies' || change === 'a tenth stalls' ? TTL_ROUNDS : 0
      for (const workers of [2, 3, 7, 20, 61, 200]) {
        const { rounds, moves, leastMoves, mostMoves, overlaps } = rebalance(
          change,
          workers,
          'decentralised',
          PARTITIONS,
        )
        expect(rounds, `${workers} workers`).toBeLessThanOrEqual(waits + 4)
        expect(moves, `${workers} workers`).toBe(leastMoves)
        expect(mostMoves).toBeLessThanOrEqual(1)
        expect(overlaps).toBe(0)
      }
    })
  }

  it('becomes fair again and again while workers join, leave, die and stall at random', () => {
    for (let seed = 1; seed <= 2; seed += 1) {
      const { moments, model } = churn(300, PARTITIONS, seed)
      expect(model.overlaps).toBe(0)
      // A change every 15 rounds; after a death ten of them pass until the leases have expired.
      const fair = moments.filter(({ spread, withoutOwner }) => spread <= 1 && withoutOwner === 0).length
      expect(fair / moments.length).toBeGreaterThan(0.3)
      expect(Math.max(...moments.map(({ workers }) => workers))).toBeGreaterThan(50)
    }
  })
})
