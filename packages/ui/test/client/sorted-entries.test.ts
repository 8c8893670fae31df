import { describe, expect, it } from 'vitest'
import { createEntry, type Entry } from '../../client/list/entry.js'
import { comparisonOf } from '../../client/list/order.js'
import { SortedEntries } from '../../client/list/sorted-entries.js'

const entry = (index: number, token: number): Entry =>
  createEntry({ name: `lease-${index}`, state: 'leased', owner: 'ada', token: `${token}` }, 0)

describe('SortedEntries', () => {
  it('finds the place of a changed entry by halving: ten thousand are not sorted again', () => {
    let comparisons = 0
    const compare = comparisonOf({ column: 'token', isDescending: false }, false)
    const entries = Array.from({ length: 10_000 }, (_, index) => entry(index, index))
    const sorted = new SortedEntries((a, b) => {
      comparisons += 1
      return compare(a, b)
    }, entries)
    comparisons = 0
    const changes = 200
    for (let change = 0; change < changes; change += 1) {
      const index = change * 37
      sorted.replace(entries[index] as Entry, entry(index, 10_000 + change))
    }
    expect(comparisons).toBeLessThan(changes * 50)
    expect(sorted.entries.at(-1)?.row.token).toBe('10199')
    expect(sorted.entries.length).toBe(10_000)
  })
})
