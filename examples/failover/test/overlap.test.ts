import { describe, expect, it } from 'vitest'
import { overlapOf } from '../src/overlap.js'
import { isInOrder } from '../src/summary.js'

describe('overlapOf', () => {
  it('is 0 for consecutive spans in any order, and for touching spans', () => {
    expect(overlapOf([])).toBe(0)
    expect(
      overlapOf([
        { from: 20, to: 30 },
        { from: 0, to: 10 },
        { from: 10, to: 20 },
      ]),
    ).toBe(0)
  })

  it('finds two holders at once', () => {
    const spans = [
      { from: 0, to: 10 },
      { from: 7.5, to: 20 },
    ]
    expect(overlapOf(spans)).toBe(2.5)
  })

  it('counts the time once, for any number of overlapping spans', () => {
    const spans = [
      { from: 0, to: 10 },
      { from: 2, to: 8 },
      { from: 4, to: 6 },
    ]
    expect(overlapOf(spans)).toBe(6)
  })
})

describe('the order of the ledger', () => {
  const entry = (token: bigint, writer: string) => ({ token, writer, id: 1 })

  it('is right if tokens never decrease, and each token belongs to one writer', () => {
    expect(isInOrder([entry(1n, 'a'), entry(1n, 'a'), entry(2n, 'b'), entry(5n, 'a')])).toBe(true)
  })

  it('is wrong if a token decreases, or two writers share a token', () => {
    expect(isInOrder([entry(2n, 'b'), entry(1n, 'a')])).toBe(false)
    expect(isInOrder([entry(2n, 'b'), entry(2n, 'a')])).toBe(false)
  })
})
