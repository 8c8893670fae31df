import { describe, expect, it } from 'vitest'
import { roughWeather } from './support/rough-weather.js'

const SEEDS = 12

describe('in rough weather', () => {
  it.each([
    [3, 'keep their data', false],
    [5, 'keep their data', false],
    [3, 'lose it one after the other', true],
    [5, 'lose it one after the other', true],
  ] as const)(
    'never two challengers for %i servers, which %s, hold the lease, and tokens grow',
    async (size, _, losses) => {
      let granted = 0
      for (let seed = 1; seed <= SEEDS; seed += 1) {
        const { faults, grants } = await roughWeather(seed, size, 60_000, losses)
        expect(faults, `seed ${seed}`).toEqual([])
        granted += grants
      }
      // The weather is not so rough that no lease is granted.
      expect(granted).toBeGreaterThan(5 * SEEDS)
    },
    300_000,
  )
})
