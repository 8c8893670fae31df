import { describe, expect, it } from 'vitest'
import { scrollTopFor, windowOf } from '../../client/list/window.js'

const view = (scrollTop: number) => ({ scrollTop, height: 300, lineHeight: 30 })

describe('windowOf', () => {
  it('draws the lines that are seen, and a few more at both ends', () => {
    expect(windowOf(view(3_000), 10_000)).toEqual({ first: 92, end: 118 })
  })

  it('draws the same lines until four others are seen', () => {
    expect(windowOf(view(3_050), 10_000)).toEqual(windowOf(view(3_000), 10_000))
    expect(windowOf(view(3_060), 10_000)).toEqual({ first: 96, end: 122 })
  })

  it('stays within the list', () => {
    expect(windowOf(view(0), 10_000)).toEqual({ first: 0, end: 18 })
    expect(windowOf(view(0), 3)).toEqual({ first: 0, end: 3 })
    expect(windowOf(view(0), 0)).toEqual({ first: 0, end: 0 })
  })

  it('shows the end of a list that became shorter than the place to which it was scrolled', () => {
    expect(windowOf(view(300_000), 20)).toEqual({ first: 4, end: 20 })
    expect(windowOf(view(-50), 100)).toEqual({ first: 0, end: 18 })
  })
})

describe('scrollTopFor', () => {
  it('scrolls only as far as needed', () => {
    expect(scrollTopFor(100, view(3_000))).toBeUndefined()
    expect(scrollTopFor(99, view(3_000))).toBe(2_970)
    expect(scrollTopFor(110, view(3_000))).toBe(3_030)
  })
})
