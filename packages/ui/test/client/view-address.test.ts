import { describe, expect, it } from 'vitest'
import { firstView, type ListView } from '../../client/list/listing.js'
import { queryOf, viewOf } from '../../client/list/view-address.js'
import { queryIn, routeOf } from '../../client/route/route.js'

const view: ListView = {
  filter: { text: 'mail & more?', states: new Set(['expired', 'broken']) },
  order: { column: 'since', isDescending: true },
  isGrouped: true,
  closed: new Set(),
}

describe('the address of a view', () => {
  it('is empty for the first one', () => {
    expect(queryOf(firstView)).toBe('')
    expect(viewOf('')).toEqual(firstView)
  })

  it('leads back to the view', () => {
    expect(viewOf(queryOf(view))).toEqual(view)
    const hash = `#/timeline${queryOf(view)}`
    expect(routeOf(hash)).toEqual({ view: 'timeline' })
    expect(queryIn(hash)).toBe(queryOf(view))
    expect(routeOf(`#/${queryOf(view)}`)).toEqual({ view: 'leases' })
  })

  it('leaves out what is not known', () => {
    expect(viewOf('?state=nothing&sort=-nothing&group=x&y=1')).toEqual(firstView)
  })

  it('is no part of the name of a lease', () => {
    expect(queryIn('#/lease/a?b')).toBe('')
  })
})
