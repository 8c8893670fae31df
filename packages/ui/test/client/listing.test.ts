import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createEntry, type Entry } from '../../client/list/entry.js'
import { matcherOf, states } from '../../client/list/filter.js'
import type { Line } from '../../client/list/lines.js'
import { firstView, Listing, type ListView } from '../../client/list/listing.js'
import { type Column, comparisonOf } from '../../client/list/order.js'
import type { LeaseRow, RowState } from '../../src/protocol.js'

const row = (name: string, more: Partial<LeaseRow> = {}): LeaseRow => ({
  name,
  state: 'leased',
  owner: 'ada',
  token: '1',
  ...more,
})

function listingOf(rows: readonly LeaseRow[], view: Partial<ListView> = {}): Listing {
  const listing = new Listing()
  listing.look({ ...firstView, ...view })
  listing.addPart({ isFirst: true, isLast: true, rows }, 0)
  return listing
}

const namesOf = (listing: Listing) => listing.shown.map((entry) => entry.row.name)
const linesOf = (listing: Listing) =>
  Array.from({ length: listing.lines.count }, (_, index) => textOf(listing.lines.at(index)))

function textOf(line: Line | undefined): string {
  if (line === undefined) return 'nothing'
  return line.kind === 'lease' ? line.entry.row.name : `${line.isOpen ? 'open' : 'closed'} ${line.group} ${line.count}`
}

describe('Listing', () => {
  it('shows a list only when it is whole', () => {
    const listing = new Listing()
    listing.addPart({ isFirst: true, isLast: false, rows: [row('a')] }, 0)
    expect(listing.isWhole).toBe(false)
    expect(namesOf(listing)).toEqual([])
    listing.addPart({ isFirst: false, isLast: true, rows: [row('b')] }, 0)
    expect(namesOf(listing)).toEqual(['a', 'b'])
  })

  it('replaces all rows with a new list, and forgets none that changed while it came', () => {
    const listing = listingOf([row('old'), row('a')])
    listing.addPart({ isFirst: true, isLast: false, rows: [row('a')] }, 0)
    listing.change({ rows: [row('a', { owner: 'grace' }), row('new')] }, 0)
    listing.addPart({ isFirst: false, isLast: true, rows: [row('z')] }, 0)
    expect(namesOf(listing)).toEqual(['a', 'new', 'z'])
    expect(listing.get('a')?.row.owner).toBe('grace')
  })

  it('puts job-9 before job-10', () => {
    expect(namesOf(listingOf([row('job-10'), row('Job-9'), row('job-1')]))).toEqual(['job-1', 'Job-9', 'job-10'])
  })

  it('sorts by each column, equal rows by name, unknown values last', () => {
    const rows = [
      row('a', { since: 3, token: '100', waiters: 1, remaining: 50 }),
      row('b', { token: '9', owner: 'zoe', state: 'available', remaining: null }),
      row('c', { since: 1, token: '10', owner: '', state: 'broken', waiters: 4, remaining: 10 }),
    ]
    const sorted = (column: Column, isDescending = false) =>
      namesOf(listingOf(rows, { order: { column, isDescending } }))
    expect(sorted('name', true)).toEqual(['c', 'b', 'a'])
    expect(sorted('since')).toEqual(['a', 'c', 'b'])
    expect(sorted('token')).toEqual(['b', 'c', 'a'])
    expect(sorted('waiters', true)).toEqual(['c', 'a', 'b'])
    expect(sorted('state')).toEqual(['c', 'a', 'b'])
    expect(sorted('owner')).toEqual(['c', 'a', 'b'])
    expect(sorted('validity')).toEqual(['c', 'a', 'b'])
  })

  it('filters by words and by states', () => {
    const rows = [row('mail/1'), row('mail/2', { owner: 'Grace' }), row('orders/1', { state: 'expired' })]
    const filtered = (text: string, ...chosen: RowState[]) =>
      namesOf(listingOf(rows, { filter: { text, states: new Set(chosen) } }))
    expect(filtered('MAIL')).toEqual(['mail/1', 'mail/2'])
    expect(filtered(' grace  mail ')).toEqual(['mail/2'])
    expect(filtered('', 'expired')).toEqual(['orders/1'])
    expect(filtered('mail', 'expired')).toEqual([])
  })

  it('groups by the first part of the name, and closes groups', () => {
    const rows = [row('mail/2'), row('nightly'), row('mail/1'), row('orders/1')]
    expect(linesOf(listingOf(rows, { isGrouped: true }))).toEqual([
      'open  1',
      'nightly',
      'open mail/ 2',
      'mail/1',
      'mail/2',
      'open orders/ 1',
      'orders/1',
    ])
    expect(linesOf(listingOf(rows, { isGrouped: true, closed: new Set(['mail/', 'orders/']) }))).toEqual([
      'open  1',
      'nightly',
      'closed mail/ 2',
      'closed orders/ 1',
    ])
  })

  it('has nothing beyond its last line', () => {
    const listing = listingOf([row('mail/1')], { isGrouped: true, closed: new Set(['mail/']) })
    expect(listing.lines.at(1)).toBeUndefined()
    expect(listing.lines.at(-1)).toBeUndefined()
  })

  it('counts the states of all rows', () => {
    const listing = listingOf([row('a'), row('b', { state: 'expired' })])
    listing.change({ rows: [row('b'), row('c', { state: 'broken' })], gone: ['a'] }, 0)
    expect(states.map((state) => listing.countOf(state))).toEqual([1, 0, 0, 1, 0])
  })

  it('returns the names whose rows changed, without heartbeats', () => {
    const listing = listingOf([row('a', { ttl: 10, remaining: 5 }), row('b')])
    expect(listing.change({ rows: [row('c')], gone: ['b'], renewed: [['a', 10]] }, 100)).toEqual(['c', 'b'])
    expect(listing.get('a')?.validUntil).toBe(110)
  })

  it('shows after any changes what a new list of the same rows would show', () => {
    const someRow = fc.record({
      name: fc.constantFrom('a/1', 'a/2', 'a/10', 'b/1', 'b/2', 'c', 'd'),
      state: fc.constantFrom(...states),
      owner: fc.constantFrom('', 'ada', 'grace'),
      token: fc.constantFrom('1', '2', '10'),
      since: fc.constantFrom(1, 2, 3),
      waiters: fc.constantFrom(0, 1, 2),
      remaining: fc.constantFrom(null, 1, 2),
    })
    const someChange = fc.oneof(
      fc.record({ rows: fc.array(someRow, { maxLength: 4 }) }),
      fc.record({ gone: fc.array(fc.constantFrom('a/1', 'b/1', 'c', 'nobody'), { maxLength: 3 }) }),
      fc.record({ renewed: fc.array(fc.tuple(fc.constantFrom('a/1', 'b/2', 'nobody'), fc.constantFrom(1, 5))) }),
    )
    const someView = fc.record({
      column: fc.constantFrom<Column>('name', 'state', 'owner', 'since', 'token', 'validity', 'waiters'),
      isDescending: fc.boolean(),
      isGrouped: fc.boolean(),
      text: fc.constantFrom('', 'a', 'ada'),
      state: fc.constantFrom<RowState | undefined>(undefined, 'leased', 'expired'),
    })
    fc.assert(
      fc.property(fc.array(someRow), fc.array(someChange), someView, (rows, changes, chosen) => {
        const { column, isDescending, isGrouped, text, state } = chosen
        const view: ListView = {
          filter: { text, states: new Set(state === undefined ? [] : [state]) },
          order: { column, isDescending },
          isGrouped,
          closed: new Set(),
        }
        const listing = listingOf(rows, view)
        const expected = new Map<string, Entry>(rows.map((each) => [each.name, createEntry(each, 0)]))
        for (const change of changes) {
          listing.change(change, 0)
          if ('rows' in change) for (const each of change.rows) expected.set(each.name, createEntry(each, 0))
          if ('gone' in change) for (const name of change.gone) expected.delete(name)
          if ('renewed' in change) {
            for (const [name, remaining] of change.renewed) {
              const before = expected.get(name)
              if (before !== undefined) expected.set(name, { ...before, validUntil: remaining })
            }
          }
        }
        const sorted = [...expected.values()].filter(matcherOf(view.filter)).sort(comparisonOf(view.order, isGrouped))
        expect(listing.shown).toEqual(sorted)
      }),
    )
  })
})
