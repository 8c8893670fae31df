import { describe, expect, it } from 'vitest'
import { type Attempt, AttemptSignals } from '../../src/engine/attempt-signals.js'

/** Uses one signal so many times. */
function use(signals: AttemptSignals, times: number): Attempt {
  const attempt = signals.take()
  for (let use = 1; use < times; use += 1) {
    signals.give(attempt)
    expect(signals.take()).toBe(attempt)
  }
  signals.give(attempt)
  return attempt
}

describe('the signal of a call that has answered', () => {
  it('serves again, over and over', () => {
    const signals = new AttemptSignals()
    const attempt = use(signals, 100)
    expect(signals.take()).toBe(attempt)
    expect(signals.take()).not.toBe(attempt)
  })

  it('belongs to its controller', () => {
    const { controller, signal, ended } = new AttemptSignals().take()
    expect(signal.aborted || ended).toBe(false)
    controller.abort()
    expect(signal.aborted).toBe(true)
  })

  it('never serves again once it was told to abort', () => {
    const signals = new AttemptSignals()
    const attempt = signals.take()
    attempt.ended = true
    signals.give(attempt)
    expect(signals.take()).not.toBe(attempt)
  })

  it('is given up where a client library forgot a listener on it, long before Node warns of the eleventh', () => {
    const signals = new AttemptSignals()
    const attempt = use(signals, 7)
    attempt.signal.addEventListener('abort', () => {})
    expect(signals.take()).toBe(attempt)
    signals.give(attempt)
    expect(signals.take()).not.toBe(attempt)
  })

  it('is not looked at before its eighth use', () => {
    const signals = new AttemptSignals()
    const attempt = signals.take()
    attempt.signal.addEventListener('abort', () => {})
    signals.give(attempt)
    expect(signals.take()).toBe(attempt)
  })

  it('is kept with 1,023 others, and no more', () => {
    const signals = new AttemptSignals()
    const taken = Array.from({ length: 1_100 }, () => signals.take())
    for (const attempt of taken) signals.give(attempt)
    const again = new Set(Array.from({ length: 1_100 }, () => signals.take()))
    expect(taken.filter((attempt) => again.has(attempt)).length).toBe(1_024)
  })
})
