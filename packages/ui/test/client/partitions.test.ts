import { describe, expect, it } from 'vitest'
import { ownershipOf, pathOf, rangesOf, rangesText } from '../../client/recipes/partitions.js'

const member = (held: number[], draining: number[] = []) => ({
  owner: 'ada',
  held,
  draining,
  claimed: [],
  isLeaving: false,
  metadata: {},
})

describe('partitions', () => {
  it('are written as ranges', () => {
    expect(rangesText(rangesOf([5, 0, 1, 2, 9, 10]))).toBe('0–2, 5, 9–10')
    expect(rangesOf([])).toEqual([])
    expect(rangesOf([1, 1])).toEqual([[1, 1]])
  })

  it('are drawn as one path', () => {
    expect(pathOf([[0, 2]], 0, 1)).toBe('M0 0h3v1h-3z')
    expect(pathOf([[5, 5]], 0.5, 0.5)).toBe('M5 0.5h1v0.5h-1z')
  })

  it('are looked through for those that nobody or more than one holds', () => {
    const group = { name: 'g', partitions: 5, members: [member([0, 1]), member([1], [2, 7])] }
    expect(ownershipOf(group)).toEqual({ unowned: [3, 4], doubled: [1] })
  })
})
