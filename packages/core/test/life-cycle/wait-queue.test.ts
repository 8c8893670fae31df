import { describe, expect, it } from 'vitest'
import { type Place, WaitQueue } from '../../src/life-cycle/wait-queue.js'

const TTL = 100

function queueOf(...grantIds: readonly string[]): WaitQueue {
  const queue = new WaitQueue()
  for (const grantId of grantIds) queue.keep({ grantId, keptUntil: TTL })
  return queue
}

function orderOf(queue: WaitQueue): readonly string[] {
  return [...queue.places()].map(({ grantId }) => grantId)
}

describe('WaitQueue', () => {
  it('is first come, first served', () => {
    expect(orderOf(queueOf('a', 'b', 'c'))).toEqual(['a', 'b', 'c'])
  })

  it.each([
    { removed: 'a', left: ['b', 'c'] },
    { removed: 'b', left: ['a', 'c'] },
    { removed: 'c', left: ['a', 'b'] },
    { removed: 'd', left: ['a', 'b', 'c'] },
  ])('without $removed the others keep their order', ({ removed, left }) => {
    const queue = queueOf('a', 'b', 'c')
    queue.remove(removed)
    expect(queue.size).toBe(left.length)
    expect(orderOf(queue)).toEqual(left)
  })

  it('adds a new place at the end, also after the last place was removed', () => {
    const queue = queueOf('a', 'b')
    queue.remove('b')
    queue.keep({ grantId: 'c', keptUntil: TTL })
    expect(orderOf(queue)).toEqual(['a', 'c'])
    for (const grantId of ['a', 'c']) queue.remove(grantId)
    queue.keep({ grantId: 'd', keptUntil: TTL })
    expect(orderOf(queue)).toEqual(['d'])
  })

  it('replaces a place that is kept, and leaves it where it is', () => {
    const queue = queueOf('a', 'b', 'c')
    const place: Place = { grantId: 'b', keptUntil: 2 * TTL }
    queue.keep(place)
    expect(queue.get('b')).toBe(place)
    expect(orderOf(queue)).toEqual(['a', 'b', 'c'])
  })

  it('finds all places that ended, wherever they are', () => {
    const queue = queueOf()
    for (let place = 0; place < 100; place += 1) queue.keep({ grantId: `${place}`, keptUntil: place % 2 === 0 ? 1 : 2 })
    expect(queue.sweep(1)).toEqual(Array.from({ length: 50 }, (_, half) => `${2 * half}`))
  })

  it('is not searched again before it has doubled', () => {
    const queue = queueOf()
    let searches = 0
    for (let place = 0; place < 10_000; place += 1) {
      queue.keep({ grantId: `${place}`, keptUntil: place })
      if (queue.sweep(0).length > 0) searches += 1
    }
    // Only the first place has ended at the instant 0.
    expect(searches).toBe(Math.ceil(Math.log2(10_000 / 64)))
  })
})
