import { describe, expect, it } from 'vitest'
import { roughWeather } from './support/rough-weather.js'

describe('in rough weather', () => {
  it.each([3, 5])('never two of those who contend for %i servers may act, and tokens grow', async (size) => {
    let granted = 0
    for (let seed = 1; seed <= 16; seed += 1) {
      const { faults, grants } = await roughWeather(seed, size, 60_000)
      expect(faults, `seed ${seed}`).toEqual([])
      granted += grants
    }
    // So rough that nobody gets through it is not.
    expect(granted).toBeGreaterThan(150)
  })
})
