import { getEventListeners } from 'node:events'
import { describe, expect, it } from 'vitest'
import { firstAbort } from '../src/first-abort.js'

describe('firstAbort', () => {
  it('aborts with the first of the signals, and with its reason', () => {
    const [one, other] = [new AbortController(), new AbortController()]
    const { signal } = firstAbort(one.signal, undefined, other.signal)
    expect(signal.aborted).toBe(false)
    other.abort('closed')
    one.abort('late')
    expect([signal.aborted, signal.reason]).toEqual([true, 'closed'])
  })

  it('is aborted from the beginning if one of the signals is', () => {
    const { signal } = firstAbort(new AbortController().signal, AbortSignal.abort('closed'))
    expect([signal.aborted, signal.reason]).toEqual([true, 'closed'])
  })

  it('adds one listener to a signal, however many wait for it, and leaves none', () => {
    const long = new AbortController()
    const all = Array.from({ length: 100 }, () => firstAbort(long.signal, new AbortController().signal))
    expect(getEventListeners(long.signal, 'abort')).toHaveLength(1)
    for (const { forget } of all) forget()
    expect(getEventListeners(long.signal, 'abort')).toHaveLength(0)
    long.abort()
    expect(all.filter(({ signal }) => signal.aborted)).toEqual([])
  })
})
