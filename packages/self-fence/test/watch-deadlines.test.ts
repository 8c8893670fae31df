import { describe, expect, it } from 'vitest'
import { type WatchedMachine, watchDeadlines } from '../src/watch-deadlines.js'

const SECOND = 1_000_000_000n
const STEP = 10e6

/** Runs the program of the thread until it has sent a signal, or looked ten times. `suspendAt`: the look before which. */
function watch(
  deadlines: readonly bigint[],
  { suspendAt = Number.POSITIVE_INFINITY, suspended = 0, hasBoot = true } = {},
) {
  const memory = {
    stop: new SharedArrayBuffer(4),
    deadlines: new SharedArrayBuffer(8 * deadlines.length),
    bootOffset: hasBoot ? 5e9 : undefined,
    bootStep: STEP,
    longestSleep: 1,
  }
  const words = new BigInt64Array(memory.deadlines)
  words.set(deadlines)
  const signals: string[] = []
  let looks = 0
  const machine: WatchedMachine = {
    hrtime: () => 100n * SECOND,
    uptime: () => {
      looks += 1
      if (looks === 10) Atomics.store(new Int32Array(memory.stop), 0, 1)
      return 105 + (looks >= suspendAt ? suspended : 0)
    },
    kill: (signal) => signals.push(signal),
  }
  watchDeadlines(memory, machine)
  return { signals: [...new Set(signals)], count: signals.length, words: [...words] }
}

describe('the thread that watches deadlines', () => {
  it('sends nothing before a deadline, and nothing where there is none', () => {
    expect(watch([0n, 100n * SECOND + 1n, 200n * SECOND, 0n]).signals).toEqual([])
  })

  it('kills the process at the second deadline of any grant, at the instant itself', () => {
    expect(watch([0n, 0n, 0n, 100n * SECOND]).signals).toEqual(['SIGKILL'])
  })

  it('asks the process to end at the first deadline, once', () => {
    const { signals, count, words } = watch([99n * SECOND, 200n * SECOND])
    expect(signals).toEqual(['SIGTERM'])
    expect(count).toBe(1)
    expect(words).toEqual([0n, 200n * SECOND])
  })

  it('counts a suspend, in which its monotonic clock stood still, a step more than was seen', () => {
    const deadlines = [0n, 160n * SECOND]
    expect(watch(deadlines, { suspendAt: 3, suspended: 60 }).signals).toEqual(['SIGKILL'])
    expect(watch(deadlines, { suspendAt: 3, suspended: 59.99 }).signals).toEqual(['SIGKILL'])
    expect(watch(deadlines, { suspendAt: 3, suspended: 59.9 }).signals).toEqual([])
  })

  it('takes a difference within the step of the boot clock for rounding', () => {
    expect(watch([0n, 100n * SECOND + 1n], { suspendAt: 1, suspended: 0.009 }).signals).toEqual([])
  })

  it('does not read a boot clock where the monotonic one goes on in a suspend', () => {
    expect(watch([0n, 160n * SECOND], { suspendAt: 1, suspended: 100, hasBoot: false }).signals).toEqual([])
  })
})
