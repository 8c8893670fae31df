import { AbortableCall } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { RequestQueue } from '../src/api/request-queue.js'
import { call } from './support/open-store.js'

/** Requests that note their names when they are let through. */
function setUp(most: number) {
  const queue = new RequestQueue(most)
  const through: string[] = []
  const enter = async (name: string, { urgent = false, by = call } = {}) => {
    const leave = await queue.enter(urgent, by)
    through.push(name)
    return leave
  }
  return { queue, through, enter }
}

/** Lets all promises that can settle do so. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

describe('a queue of requests', () => {
  it('lets so many through at a time, in their order', async () => {
    const { through, enter } = setUp(2)
    const [first] = await Promise.all([enter('a'), enter('b')])
    void enter('c')
    void enter('d')
    await settle()
    expect(through).toEqual(['a', 'b'])
    first?.()
    await settle()
    expect(through).toEqual(['a', 'b', 'c'])
  })

  it('lets urgent ones through first', async () => {
    const { through, enter } = setUp(1)
    const leave = await enter('a')
    void enter('b')
    void enter('c', { urgent: true })
    leave()
    await settle()
    expect(through).toEqual(['a', 'c'])
  })

  it('has room for one more when one leaves, also if it says so twice', async () => {
    const { through, enter } = setUp(1)
    const leave = await enter('a')
    leave()
    leave()
    await enter('b')
    void enter('c')
    await settle()
    expect(through).toEqual(['a', 'b'])
  })

  it('forgets one whose call is aborted, and rejects it with the reason', async () => {
    const { through, enter } = setUp(1)
    const leave = await enter('a')
    const by = new AbortableCall()
    const given = enter('b', { by })
    const next = enter('c')
    const aborted = new AbortableCall()
    aborted.abort(new Error('too late'))
    await expect(enter('d', { by: aborted })).rejects.toThrow('too late')
    by.abort(new Error('given up'))
    await expect(given).rejects.toThrow('given up')
    expect(by.listeners).toBe(0)
    leave()
    await next
    expect(through).toEqual(['a', 'c'])
  })

  it('that is closed rejects those that wait, and later ones', async () => {
    const { queue, enter } = setUp(1)
    await enter('a')
    const waiting = [enter('b'), enter('c', { urgent: true })]
    queue.close(new Error('closed'))
    for (const one of [...waiting, enter('d')]) await expect(one).rejects.toThrow('closed')
  })
})
