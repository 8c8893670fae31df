import { describe, expect, it } from 'vitest'
import { hrefOf, leaseHref, routeOf, views } from '../../client/route/route.js'

describe('routes', () => {
  it('lead to each view and back', () => {
    for (const view of views) expect(routeOf(hrefOf(view))).toEqual({ view })
  })

  it('lead to a lease of any name', () => {
    for (const name of [
      'a',
      'orders/import',
      '../..',
      '100%',
      '#token=x',
      'a b?c&d',
      '<img onerror=x>',
      'ä€😀',
      ' ',
      '/',
    ]) {
      expect(routeOf(leaseHref(name)), name).toEqual({ view: 'lease', name })
    }
  })

  it('do not fail for a name that has no encoding', () => {
    expect(leaseHref('a\ud800b')).toBe('#/lease/a%EF%BF%BDb')
  })

  it('show the list for anything else, and what somebody typed as it stands', () => {
    for (const hash of ['', '#', '#/', '#/nothing', '#/lease']) expect(routeOf(hash)).toEqual({ view: 'leases' })
    expect(routeOf('#/lease/100%')).toEqual({ view: 'lease', name: '100%' })
  })
})
