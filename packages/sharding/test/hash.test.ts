import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hashOf, shardOf } from '../src/hash.js'

describe('the hash of an id', () => {
  it('is the same in every version', () => {
    const ids = ['', 'a', 'account-7', 'customer-1000000', 'Grüße', '猫', '😀']
    expect(ids.map((id) => [id, hashOf(id)])).toMatchInlineSnapshot(`
      [
        [
          "",
          2872998923,
        ],
        [
          "a",
          444641715,
        ],
        [
          "account-7",
          939175998,
        ],
        [
          "customer-1000000",
          1625556255,
        ],
        [
          "Grüße",
          243007994,
        ],
        [
          "猫",
          1538968849,
        ],
        [
          "😀",
          855877642,
        ],
      ]
    `)
  })

  it('is a whole number below 2^32', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (id) => {
        const hash = hashOf(id)
        expect(Number.isInteger(hash) && hash >= 0 && hash < 2 ** 32).toBe(true)
      }),
    )
  })

  it.each([
    ['numbered', (number: number) => `account-${number}`],
    ['padded', (number: number) => String(number).padStart(12, '0')],
    ['in steps', (number: number) => `c${number * 64}`],
  ])('spreads ids that are %s over the shards', (_, idOf) => {
    const counts = new Array<number>(64).fill(0)
    for (let number = 0; number < 64_000; number += 1) {
      const shard = shardOf(idOf(number), 64)
      counts[shard] = (counts[shard] ?? 0) + 1
    }
    // Five standard deviations of a random spread.
    expect(Math.max(...counts)).toBeLessThan(1_000 + 5 * Math.sqrt(1_000))
    expect(Math.min(...counts)).toBeGreaterThan(1_000 - 5 * Math.sqrt(1_000))
  })
})
