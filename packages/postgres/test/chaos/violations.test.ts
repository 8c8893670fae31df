import { type Holding, violations } from '@leasehold/testing/fleet'
import { describe, expect, it } from 'vitest'

function holding(owner: string, token: bigint, from: number, to: number, name = 'job'): Holding {
  return { name, owner, token, from, to }
}

describe('the judge of the fleet', () => {
  it('accepts holders that follow each other with larger tokens, and other names', () => {
    expect(violations([holding('a', 1n, 0, 5), holding('b', 2n, 5, 9), holding('c', 1n, 3, 7, 'other')])).toEqual([])
  })

  it('finds two holders at the same time, in any order, also behind a short one', () => {
    expect(violations([holding('b', 2n, 4, 9), holding('a', 1n, 0, 5)])).toEqual(['a and b both held job for 1 ms'])
    expect(violations([holding('a', 1n, 0, 50), holding('b', 2n, 4, 9), holding('c', 3n, 10, 12)]).length).toBe(2)
  })

  it('finds tokens that do not grow', () => {
    expect(violations([holding('a', 2n, 0, 5), holding('b', 2n, 6, 9)])).toEqual(['b got 2 for job after 2 of a'])
  })
})
