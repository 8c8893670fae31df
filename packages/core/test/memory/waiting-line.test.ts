import { describe, expect, it } from 'vitest'
import { WaitingLine } from '../../src/memory/waiting-line.js'

const TTL = 100

function lineOf(...grantIds: readonly string[]): WaitingLine {
  const line = new WaitingLine()
  for (const grantId of grantIds) line.keep(grantId, 0, TTL)
  return line
}

/** Takes out all who are alive at the instant, in their order. */
function orderOf(line: WaitingLine, now = 0): readonly string[] {
  const order: string[] = []
  for (let first = line.first(now); first !== undefined; first = line.first(now)) {
    order.push(first.grantId)
    line.remove(first.grantId)
  }
  return order
}

describe('WaitingLine', () => {
  it('first come, first served', () => {
    expect(orderOf(lineOf('a', 'b', 'c'))).toEqual(['a', 'b', 'c'])
  })

  it.each([
    { removed: 'a', left: ['b', 'c'] },
    { removed: 'b', left: ['a', 'c'] },
    { removed: 'c', left: ['a', 'b'] },
    { removed: 'd', left: ['a', 'b', 'c'] },
  ])('without $removed the others keep their order', ({ removed, left }) => {
    const line = lineOf('a', 'b', 'c')
    line.remove(removed)
    expect(line.size).toBe(left.length)
    expect(orderOf(line)).toEqual(left)
  })

  it('one who comes after the last was removed stands behind the others', () => {
    const line = lineOf('a', 'b')
    line.remove('b')
    line.keep('c', 0, TTL)
    expect(orderOf(line)).toEqual(['a', 'c'])
    line.keep('d', 0, TTL)
    expect(orderOf(line)).toEqual(['d'])
  })

  it('a place that is kept alive stays where it is', () => {
    const line = lineOf('a', 'b', 'c')
    line.keep('a', TTL - 1, 2 * TTL)
    expect(orderOf(line, TTL)).toEqual(['a'])
  })

  it('the dead are passed over, and forgotten when they come first', () => {
    const line = lineOf('a', 'b')
    line.keep('c', 0, 2 * TTL)
    expect(line.first(TTL - 1)?.grantId).toBe('a')
    expect(line.first(TTL)?.grantId).toBe('c')
    expect(line.size).toBe(1)
    expect(line.first(2 * TTL)).toBeUndefined()
    expect(line.size).toBe(0)
  })

  it('one who comes back after his death goes to the end, wherever he stood', () => {
    const line = lineOf('a', 'b')
    line.keep('c', 0, 3 * TTL)
    line.keep('a', TTL - 1, 3 * TTL)
    line.keep('b', TTL, 3 * TTL)
    expect(orderOf(line, TTL)).toEqual(['a', 'c', 'b'])
  })

  it('behind one who lives long the dead do not pile up', () => {
    const line = lineOf()
    line.keep('first', 0, Number.POSITIVE_INFINITY)
    for (let now = 1; now <= 10_000; now += 1) line.keep(`passer-by ${now}`, now, now + 1)
    expect(line.size).toBeLessThan(100)
    expect(line.first(10_000)?.grantId).toBe('first')
  })

  it('of many who are alive none is swept away', () => {
    const line = lineOf()
    const grantIds = Array.from({ length: 10_000 }, (_, place) => `waiter ${place}`)
    for (const grantId of grantIds) line.keep(grantId, 0, TTL)
    expect(orderOf(line)).toEqual(grantIds)
  })
})
