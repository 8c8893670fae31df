import { describe, expect, it } from 'vitest'
import { BusyPoll } from '../src/busy-poll.js'

const MANY = 1_000

/** A poll whose turns are taken by hand. */
function polled(processors = 2) {
  const turns: (() => void)[] = []
  const server = { isAwaited: false }
  const poll = new BusyPoll(
    () => server.isAwaited,
    (turn) => turns.push(turn),
    processors,
  )
  const send = (): void => {
    server.isAwaited = true
    poll.start()
  }
  const answer = (): void => {
    server.isAwaited = false
    poll.end()
  }
  /** So many at most, while there are any; says how many it were. */
  const takeTurns = (count: number): number => {
    for (let taken = 0; taken < count; taken += 1) {
      expect(turns.length).toBeLessThanOrEqual(1)
      const turn = turns.shift()
      if (turn === undefined) return taken
      turn()
    }
    return count
  }
  /** Sends a call that is answered after so many turns; says how many were taken in all. */
  const call = (answeredAfter: number): number => {
    send()
    const taken = takeTurns(answeredAfter)
    answer()
    return taken + takeTurns(MANY)
  }
  return { send, answer, takeTurns, call }
}

describe('a busy poll', () => {
  it('takes turns until the answer is there', () => {
    expect(polled().call(20)).toBe(21)
  })

  it('gives up on an answer that takes longer', () => {
    const { call } = polled()
    const taken = call(MANY)
    expect(taken).toBeGreaterThan(50)
    expect(taken).toBeLessThan(500)
  })

  it('rests after a few that took longer, tries anew now and then, and goes on once one is there in time', () => {
    const { call } = polled()
    const far = Array.from({ length: 300 }, () => call(MANY))
    const tried = far.filter((taken) => taken > 0).length
    expect(tried).toBeGreaterThan(3)
    expect(tried).toBeLessThan(10)
    const near = Array.from({ length: 300 }, () => call(5))
    expect(near.slice(100)).toEqual(Array.from({ length: 200 }, () => 6))
  })

  it('is not put off by a single one that took longer', () => {
    const { call } = polled()
    call(5)
    call(MANY)
    expect(call(5)).toBe(6)
  })

  it('takes no turn twice for calls that are under way together', () => {
    const { send, answer, takeTurns } = polled()
    send()
    send()
    expect(takeTurns(3)).toBe(3)
    answer()
    expect(takeTurns(MANY)).toBe(1)
  })

  it('does not rest among calls without a pause, a few of which take longer', () => {
    const { send, answer, takeTurns } = polled()
    for (let round = 0; round < 20; round += 1) {
      // The next is sent in the turn in which the last is answered.
      send()
      for (let count = 0; count < 10; count += 1) {
        expect(takeTurns(5)).toBe(5)
        answer()
        send()
      }
      expect(takeTurns(MANY)).toBeLessThan(MANY)
      answer()
    }
  })

  it('leaves a single processor to the server', () => {
    expect(polled(1).call(5)).toBe(0)
  })
})
