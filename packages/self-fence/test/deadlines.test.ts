import { describe, expect, it, vi } from 'vitest'
import { createDeadlineMemory, Deadlines } from '../src/deadlines.js'

/** Deadlines on a clock that is an hour ahead, and the words that the watchdog reads. */
function setUp() {
  const memory = createDeadlineMemory()
  const time = { bootOffset: 0, now: () => 0, fromSystem: (instant: number) => instant + 3_600_000 }
  const deadlines = new Deadlines(memory, time)
  const words = (place: number) => [...new BigInt64Array(memory)].slice(2 * place, 2 * place + 2)
  return { deadlines, words }
}

const at = (instant: number): bigint => BigInt(instant + 3_600_000) * 1_000_000n

describe('deadlines', () => {
  it('are written in nanoseconds of the clock of the watchdog, and 0 for never', () => {
    const { deadlines, words } = setUp()
    const deadline = deadlines.add()
    deadline.set(Number.POSITIVE_INFINITY, 200)
    expect(words(deadline.place)).toEqual([0n, at(200)])
    deadline.set(100, 200)
    expect(words(deadline.place)).toEqual([at(100), at(200)])
  })

  it('are cleared once, and their places are used again', () => {
    const { deadlines, words } = setUp()
    const onCleared = vi.fn()
    const first = deadlines.add(onCleared)
    first.set(100, 200)
    first.clear()
    first.clear()
    expect(words(first.place)).toEqual([0n, 0n])
    expect(onCleared).toHaveBeenCalledOnce()
    const [second, third] = [deadlines.add(), deadlines.add()]
    expect(second.place).toBe(first.place)
    expect(third.place).not.toBe(first.place)
  })

  it('can be made earlier, never later', () => {
    const { deadlines, words } = setUp()
    const deadline = deadlines.add()
    deadline.set(150, 200)
    deadline.shorten(250, 300)
    expect(words(deadline.place)).toEqual([at(150), at(200)])
    deadline.shorten(50, 100)
    expect(words(deadline.place)).toEqual([at(50), at(100)])
  })
})
