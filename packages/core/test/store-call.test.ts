import { AbortableCall } from '@leasehold/core/store'
import { describe, expect, it, vi } from 'vitest'

describe('a store call', () => {
  it('has a time limit, and is not aborted at first', () => {
    const call = new AbortableCall(500)
    expect([call.timeout, call.aborted, new AbortableCall().timeout]).toEqual([500, false, Number.POSITIVE_INFINITY])
  })

  it('notifies listeners and its signal once', () => {
    const call = new AbortableCall()
    const [one, two, onSignal] = [vi.fn(), vi.fn(), vi.fn()]
    call.onAbort(one)
    call.onAbort(two)
    call.signal.addEventListener('abort', onSignal)
    const reason = new Error('enough')
    call.abort(reason)
    call.abort('again')
    for (const listener of [one, two, onSignal]) expect(listener).toHaveBeenCalledOnce()
    expect([call.aborted, call.signal.reason]).toEqual([true, reason])
  })

  it('has an aborted signal when the signal is read after the abort', () => {
    const call = new AbortableCall()
    call.abort('enough')
    expect([call.signal.aborted, call.signal.reason]).toEqual([true, 'enough'])
    expect(call.signal).toBe(call.signal)
  })

  it('runs a listener at once if it is added after the abort', () => {
    const call = new AbortableCall()
    call.abort()
    const listener = vi.fn()
    call.onAbort(listener)()
    expect(listener).toHaveBeenCalledOnce()
  })

  it('removes no other listener when one is removed twice', () => {
    const call = new AbortableCall()
    const [removed, later] = [vi.fn(), vi.fn()]
    const remove = call.onAbort(removed)
    remove()
    call.onAbort(later)
    remove()
    call.abort()
    expect([removed.mock.calls.length, later.mock.calls.length]).toEqual([0, 1])
  })

  it('does not run a removed listener, and counts the others', () => {
    const call = new AbortableCall()
    const [kept, removed] = [vi.fn(), vi.fn()]
    call.onAbort(kept)
    const remove = call.onAbort(removed)
    call.signal.addEventListener('abort', () => {})
    expect(call.listeners).toBe(3)
    remove()
    remove()
    expect(call.listeners).toBe(2)
    call.abort()
    expect([kept.mock.calls.length, removed.mock.calls.length]).toEqual([1, 0])
  })

  it('runs the other listeners although one throws, and logs the error', async () => {
    const call = new AbortableCall()
    const warnings: string[] = []
    const onWarning = ({ message }: Error): void => void warnings.push(message)
    process.on('warning', onWarning)
    const other = vi.fn()
    call.onAbort(() => {
      throw new Error('faulty store')
    })
    call.onAbort(other)
    expect(() => call.abort()).not.toThrow()
    expect(other).toHaveBeenCalledOnce()
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect(warnings).toEqual([expect.stringContaining('a store threw an error when a call was aborted')])
  })
})
