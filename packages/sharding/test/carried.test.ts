import { LeaseConfigurationError } from '@leasehold/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { carried } from '../src/carried.js'

describe('what is sent', () => {
  it('is a copy that equals what JSON makes of it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        fc.pre(!JSON.stringify(value).includes('__proto__'))
        expect(carried(value, 'event')).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it('shares no object with the sender', () => {
    const list = [1, 2]
    const copy = carried({ type: 'x', list }, 'event') as { list: number[] }
    list.push(3)
    expect(copy.list).toEqual([1, 2])
  })

  it('leaves members out that are undefined', () => {
    expect(Object.keys(Object(carried({ type: 'x', amount: undefined }, 'event')))).toEqual(['type'])
  })

  const cycle: { self?: unknown } = {}
  cycle.self = cycle
  it.each([
    ['a bigint', { amount: 1n }, 'event.amount is a bigint'],
    ['a function', { done: () => {} }, 'event.done is a function'],
    ['a symbol', { mark: Symbol('x') }, 'event.mark is a symbol'],
    ['a cycle', cycle, 'event.self is a part of itself'],
    ['NaN', { amount: Number.NaN }, 'event.amount is NaN'],
    ['Infinity', { amount: Number.POSITIVE_INFINITY }, 'event.amount is Infinity'],
    ['a Date', { at: new Date(0) }, 'event.at is a Date'],
    ['a Map', { all: new Map() }, 'event.all is a Map'],
    ['a hole', { list: [undefined] }, 'event.list[0] is undefined'],
    ['__proto__', JSON.parse('{"a":{"__proto__":1}}'), 'event.a is an object with a member __proto__'],
  ])('refuses %s, and names its place', (_, value, message) => {
    expect(() => carried(value, 'event')).toThrow(LeaseConfigurationError)
    expect(() => carried(value, 'event')).toThrow(message)
  })

  it('refuses a value that is too deep for a stack', () => {
    let deep: unknown = 1
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    expect(() => carried(deep, 'event')).toThrow('levels deep')
  })
})
