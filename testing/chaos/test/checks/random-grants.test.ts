import { Random } from '@leasehold/simulator'
import { expect, it } from 'vitest'
import { checkHistory, type Violation } from '../../src/index.js'
import { HistoryOf } from './history-of.js'
import { RandomGrants } from './random-grants.js'

function check(history: HistoryOf, until: number): readonly Violation[] {
  return checkHistory(history.until(until), { longestRecovery: Number.MAX_SAFE_INTEGER }).violations
}

it('finds nothing in histories of clients that hold a name in turn, stopped at any instant', () => {
  for (let seed = 1; seed <= 2_000; seed += 1) {
    const history = new HistoryOf()
    const until = new RandomGrants(seed, history).add(20)
    expect(check(history, until), `seed ${seed}`).toEqual([])
  }
})

it('finds a grant to another client in the middle of a grant that was checked', () => {
  for (let seed = 1; seed <= 500; seed += 1) {
    const history = new HistoryOf()
    const until = new RandomGrants(seed, history).add(5)
    const random = new Random(seed)
    const [one, two] = [1, 2].map((client) => ({ client, life: 100 }))
    const at = until + random.between(300, 400)
    history
      .acquired(at, at + 1, 1_000n, at + 90, one)
      .held(at + 50, at + 51, 1_000n, at + 90, one)
      .acquired(at + 10, at + 20, 1_001n, at + 110, two)
      .held(at + 30, at + 31, 1_001n, at + 110, two)
    expect(
      check(history, at + 200).map((violation) => violation.check),
      `seed ${seed}`,
    ).toEqual(['exclusion'])
  }
})
