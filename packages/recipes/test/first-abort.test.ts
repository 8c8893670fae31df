import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { FirstAbort } from '../src/first-abort.js'

describe('FirstAbort', () => {
  it('aborts with the first of the signals, and with its reason', () => {
    const [one, other] = [new AbortController(), new AbortController()]
    const { signal } = new FirstAbort(one.signal, undefined, other.signal)
    expect(signal.aborted).toBe(false)
    other.abort('closed')
    one.abort('late')
    expect([signal.aborted, signal.reason]).toEqual([true, 'closed'])
  })

  it('is aborted from the beginning if one of the signals is', () => {
    const { signal } = new FirstAbort(new AbortController().signal, AbortSignal.abort('closed'))
    expect([signal.aborted, signal.reason]).toEqual([true, 'closed'])
  })

  it('adds one listener to a signal, however many wait for it, and leaves none', () => {
    const long = new AbortController()
    const all = Array.from({ length: 100 }, () => new FirstAbort(long.signal, new AbortController().signal))
    expect(getEventListeners(long.signal, 'abort')).toHaveLength(1)
    for (const one of all) one.forget()
    expect(getEventListeners(long.signal, 'abort')).toHaveLength(0)
    long.abort()
    expect(all.filter(({ signal }) => signal.aborted)).toEqual([])
  })
})
