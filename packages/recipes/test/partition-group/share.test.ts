import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeShare, encodeShare, largestGroup } from '../../src/partition-group/share.js'

const shares = fc
  .array(fc.constantFrom('none', 'held', 'claimed', 'draining'), { minLength: 1, maxLength: 400 })
  .map((states) => {
    const having = (state: string): number[] => states.flatMap((one, partition) => (one === state ? partition : []))
    return {
      partitions: states.length,
      share: { held: having('held'), claimed: having('claimed'), draining: having('draining') },
    }
  })

describe('a share in a record', () => {
  it('is read as it was written', () => {
    fc.assert(
      fc.property(shares, ({ partitions, share }) => {
        expect(decodeShare(encodeShare(share, partitions), partitions)).toEqual(share)
      }),
    )
  })

  it('is short where the partitions are in rows, and never longer than two bits a partition', () => {
    const row = Array.from({ length: 50 }, (_, place) => 700 + place)
    expect(encodeShare({ held: row, claimed: [], draining: [] }, 10_000)).toBe('n700h50')
    const partitions = largestGroup(4_096)
    const every = (start: number): number[] =>
      Array.from({ length: Math.floor(partitions / 3) }, (_, place) => start + 3 * place)
    const worst = encodeShare({ held: every(0), claimed: every(1), draining: every(2) }, partitions)
    expect(worst.length).toBeGreaterThan(partitions / 4)
    expect(Buffer.byteLength(worst) + Buffer.byteLength('share') + Buffer.byteLength('leavingtrue')).toBeLessThan(4_096)
    expect(partitions).toBeGreaterThan(10_000)
  })

  it('is empty where a record has none, or not a valid one', () => {
    const empty = { held: [], claimed: [], draining: [] }
    for (const text of [undefined, '', '*', 'n', 'x9', 'h', 'h-4']) expect(decodeShare(text, 10)).toEqual(empty)
  })

  it('has no partitions beyond the group', () => {
    expect(decodeShare('h999999999', 3).held).toEqual([0, 1, 2])
    expect(decodeShare(encodeShare({ held: [1, 7], claimed: [], draining: [9] }, 10), 8)).toEqual({
      held: [1, 7],
      claimed: [],
      draining: [],
    })
  })
})
