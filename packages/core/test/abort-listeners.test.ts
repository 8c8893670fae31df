import { getEventListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { AbortListeners } from '../src/time/abort-listeners.js'

describe('AbortListeners', () => {
  it('calls every callback once when the signal aborts, and leaves nothing behind', () => {
    const listeners = new AbortListeners()
    const controller = new AbortController()
    const calls: string[] = []
    listeners.add(controller.signal, () => calls.push('first'))
    listeners.add(controller.signal, () => calls.push('second'))
    controller.abort()
    expect(calls).toEqual(['first', 'second'])
    expect(listeners.size).toBe(0)
    expect(getEventListeners(controller.signal, 'abort')).toHaveLength(0)
  })

  it('calls a callback twice that was added twice, and removes each separately', () => {
    const listeners = new AbortListeners()
    const controller = new AbortController()
    let calls = 0
    const callback = (): void => {
      calls += 1
    }
    listeners.add(controller.signal, callback)
    const remove = listeners.add(controller.signal, callback)
    remove()
    remove()
    controller.abort()
    expect(calls).toBe(1)
  })

  it('calls at once if the signal is already aborted', () => {
    const listeners = new AbortListeners()
    let called = false
    listeners.add(AbortSignal.abort(), () => {
      called = true
    })
    expect(called).toBe(true)
    expect(listeners.size).toBe(0)
  })

  it('has one listener for each signal, removed with the last callback', () => {
    const listeners = new AbortListeners()
    const { signal } = new AbortController()
    const removals = [1, 2, 3].map(() => listeners.add(signal, () => {}))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    for (const remove of removals) {
      expect(listeners.size).toBe(1)
      remove()
    }
    expect(listeners.size).toBe(0)
    expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  })

  it('does not call a callback that another one removes during the abort', () => {
    const listeners = new AbortListeners()
    const controller = new AbortController()
    let called = false
    const removals: (() => void)[] = []
    listeners.add(controller.signal, () => removals.forEach((remove) => void remove()))
    removals.push(
      listeners.add(controller.signal, () => {
        called = true
      }),
    )
    controller.abort()
    expect(called).toBe(false)
  })

  it('lets 10,000 callbacks wait for one signal without a leak warning', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const listeners = new AbortListeners()
    const controller = new AbortController()
    let calls = 0
    for (let place = 0; place < 10_000; place += 1) {
      listeners.add(controller.signal, () => {
        calls += 1
      })
    }
    controller.abort()
    await nextTurn()
    process.off('warning', onWarning)
    expect(calls).toBe(10_000)
    expect(warnings).toEqual([])
  })
})
