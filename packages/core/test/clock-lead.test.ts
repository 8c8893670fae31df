import { describe, expect, it } from 'vitest'
import { leadOf } from '../src/time/system-clock.js'

/** Yields these readings in turn. */
function readingsOf(...readings: readonly number[]): () => number {
  const left = [...readings]
  return () => left.shift() ?? Number.NaN
}

describe('how far a clock is ahead of another', () => {
  it('lies between the readings of the other before and after its own', () => {
    expect(leadOf(readingsOf(100), readingsOf(10, 13))).toEqual({ least: 87, most: 90 })
  })

  it('comes from the least interrupted of several readings', () => {
    const clock = readingsOf(100, 200, 300, 400, 500, 600, 700, 800)
    // From before to after: 60, 8, 7, 40, and 9 for the others.
    const monotonic = readingsOf(10, 70, 110, 118, 210, 217, 310, 350, 410, 419, 510, 519, 610, 619, 710, 719)
    expect(leadOf(clock, monotonic)).toEqual({ least: 83, most: 90 })
  })

  it('comes from the first reading that is short enough', () => {
    expect(leadOf(readingsOf(100, 200), readingsOf(10, 16, 110, 111), 6)).toEqual({ least: 84, most: 90 })
  })
})
