import { describe, expect, it } from 'vitest'
import { KeptDeadline } from '../src/kept-deadline.js'

const PLACE = 1

/** The deadline of a grant, with what the watchdog reads, in milliseconds. */
function setUp({ askBefore = 20, isEnded = (): boolean => false } = {}) {
  const memory = new SharedArrayBuffer(64)
  const words = new BigInt64Array(memory)
  const set = (ask: number, kill: number): void => {
    words[2 * PLACE] = BigInt(ask * 1e6)
    words[2 * PLACE + 1] = BigInt(kill * 1e6)
  }
  set(1_080, 1_100)
  const read = (): number[] => [Number(words[2 * PLACE]) / 1e6, Number(words[2 * PLACE + 1]) / 1e6]
  const spec = { memory, place: PLACE, ahead: 500, killAfter: 100, askBefore }
  return { deadline: new KeptDeadline(spec, isEnded), set, read }
}

describe('the deadline of a kept grant', () => {
  it('is moved with the end of the validity, and never back', () => {
    const { deadline, read } = setUp()
    deadline.extend(2_000)
    expect(read()).toEqual([2_580, 2_600])
    deadline.extend(1_000)
    deadline.extend(Number.POSITIVE_INFINITY)
    expect(read()).toEqual([2_580, 2_600])
  })

  it('is brought forward by a loss, and never put off', () => {
    const { deadline, read } = setUp()
    deadline.extend(2_000)
    deadline.bringForward(1_000)
    expect(read()).toEqual([1_580, 1_600])
    deadline.bringForward(1_500)
    expect(read()).toEqual([1_580, 1_600])
  })

  it('asks nobody where it only kills', () => {
    const { deadline, set, read } = setUp({ askBefore: Number.NEGATIVE_INFINITY })
    set(0, 1_100)
    deadline.extend(2_000)
    expect(read()).toEqual([0, 2_600])
  })

  it('stays as it is when its user has ended the keeping, or has cleared it', () => {
    const ended = setUp({ isEnded: () => true })
    ended.deadline.extend(2_000)
    expect(ended.read()).toEqual([1_080, 1_100])
    const cleared = setUp()
    cleared.set(0, 0)
    cleared.deadline.extend(2_000)
    expect(cleared.read()).toEqual([0, 0])
  })

  it('is left alone if the user changes it between the look and the move', () => {
    let hasChanged = false
    const isEnded = (): boolean => {
      if (hasChanged) return true
      // The keeping ends after this look, and the place belongs to another grant.
      hasChanged = true
      fixture.set(1_010, 1_020)
      return false
    }
    const fixture = setUp({ isEnded })
    fixture.deadline.extend(2_000)
    expect(fixture.read()).toEqual([1_010, 1_020])
  })
})
