import { backoff } from '@leasehold/core/store-kit'
import { describe, expect, it } from 'vitest'

describe('the pause after failures in a row', () => {
  it('doubles with each failure, up to the longest one', () => {
    const pauses = [0, 1, 2, 5, 2_000].map((failures) => backoff(failures, 50, 1_000, () => 1))
    expect(pauses).toEqual([50, 100, 200, 1_000, 1_000])
  })

  it('is shorter by up to a half at random', () => {
    expect(backoff(1, 50, 1_000, () => 0)).toBe(50)
    expect(backoff(1, 50, 1_000, () => 0.5)).toBe(75)
  })
})
