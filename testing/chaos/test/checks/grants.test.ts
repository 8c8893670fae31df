import { describe, expect, it } from 'vitest'
import { type CheckName, checkHistory } from '../../src/index.js'
import { HistoryOf } from './history-of.js'

const two = { client: 2 }

function broken(history: HistoryOf, until = 1_000, longestRecovery = 10_000): CheckName[] {
  return checkHistory(history.until(until), { longestRecovery }).violations.map(({ check }) => check)
}

describe('exclusion', () => {
  it('accepts one holder after another', () => {
    const history = new HistoryOf()
      .acquired(0, 10, 1n, 100)
      .held(80, 81, 1n, 100)
      .lost(101, 1n, 'expired')
      .acquired(50, 120, 2n, 220, two)
      .held(130, 131, 2n, 220, two)
    expect(broken(history)).toEqual([])
  })

  it('finds two valid grants by the checks of their holders', () => {
    const history = new HistoryOf()
      .acquired(0, 10, 1n, 20)
      .held(80, 81, 1n, 85)
      .acquired(50, 60, 2n, 160, two)
      .held(70, 71, 2n, 160, two)
    expect(broken(history)).toEqual(['exclusion'])
  })

  it('finds two valid grants by their known validity, and says for how long', () => {
    const history = new HistoryOf()
      .acquired(0, 10, 1n, 100)
      .held(200, 201, 3n, 201, { client: 1 })
      .acquired(50, 60, 2n, 160, two)
      .call(400, 401, { call: 'check', outcome: 'not-held' }, two)
    const { violations, figures } = checkHistory(history.until(1_000), { longestRecovery: 10_000 })
    expect(violations.map(({ check }) => check)).toEqual(['exclusion'])
    expect(figures.longestOverlap).toBe(40)
  })

  it('does not take a check that was stopped for a hold at its begin or end', () => {
    const history = new HistoryOf()
      .acquired(0, 10, 1n, 100)
      // It looked at 45, and was stopped until 150.
      .held(45, 150, 1n, 100)
      .acquired(100, 110, 2n, 210, two)
      .held(140, 141, 2n, 210, two)
      // It was called at 50 and looked after the stop.
      .held(50, 300, 3n, 400, { client: 3 })
    expect(broken(history)).toEqual([])
  })

  it('does not take a grant that was seen late for a valid one', () => {
    const history = new HistoryOf()
      .acquired(0, 150, 1n, 100)
      .lost(151, 1n, 'expired')
      .acquired(0, 120, 2n, 220, two)
      .held(160, 161, 2n, 220, two)
    expect(broken(history)).toEqual([])
  })

  it.each(['release', 'hand-over'] as const)('ends with the begin of a %s, whatever its outcome', (call) => {
    const history = new HistoryOf()
      .acquired(0, 10, 1n, 1_000)
      .call(50, 300, { call, token: 1n, outcome: 'unknown' })
      .acquired(20, 60, 2n, 1_000, two)
      .held(290, 291, 2n, 1_000, two)
    expect(broken(history)).toEqual([])
  })

  it('does not count on the validity of a grant that was lost otherwise, or of a process that may have died', () => {
    const history = new HistoryOf()
      .acquired(0, 10, 1n, 1_000)
      .held(20, 21, 1n, 1_000)
      .lost(90, 1n, 'closed')
      .acquired(20, 60, 2n, 1_000, two)
      .held(70, 71, 2n, 1_000, two)
      .acquired(75, 100, 3n, 1_100, { client: 2, life: 2 })
      .held(800, 801, 3n, 1_100, { client: 2, life: 2 })
    expect(broken(history)).toEqual([])
  })

  it('counts the validity of a renewal', () => {
    const history = new HistoryOf()
      .acquired(0, 10, 1n, 50)
      .renewed(30, 1n, 200)
      .acquired(0, 150, 2n, 300, two)
      .call(290, 291, { call: 'check', outcome: 'not-held' })
      .call(290, 291, { call: 'check', outcome: 'not-held' }, two)
    expect(broken(history)).toEqual(['exclusion'])
  })
})

describe('token-order', () => {
  it('finds a later grant with a smaller token', () => {
    const history = new HistoryOf().acquired(0, 10, 5n, 20).lost(21, 5n, 'expired').acquired(30, 40, 4n, 50, two)
    expect(broken(history)).toEqual(['token-order'])
  })

  it('accepts any order of grants whose calls were under way at the same time', () => {
    const history = new HistoryOf().acquired(0, 10, 5n, 20).lost(21, 5n, 'expired').acquired(9, 40, 4n, 50, two)
    expect(broken(history)).toEqual([])
  })

  it('finds a token that was given twice, and accepts an acquire of what is held', () => {
    const twice = new HistoryOf().acquired(0, 10, 5n, 20).lost(21, 5n, 'expired').acquired(30, 40, 5n, 50, two)
    expect(broken(twice)).toEqual(['token-order'])
    expect(broken(new HistoryOf().acquired(0, 10, 5n, 20).acquired(12, 13, 5n, 20))).toEqual([])
  })

  it('knows tokens from checks, too', () => {
    const history = new HistoryOf().held(1, 2, 5n, 10).acquired(30, 40, 4n, 50, two)
    expect(broken(history)).toEqual(['token-order'])
  })
})

describe('late-hold', () => {
  it.each([
    ['release', 'gone'],
    ['release', 'foreign'],
    ['hand-over', 'handed-over'],
  ] as const)('finds a hold after a %s: %s', (call, outcome) => {
    const ended = new HistoryOf()
      .acquired(0, 10, 1n, 100)
      .call(20, 30, { call, token: 1n, outcome } as Parameters<HistoryOf['call']>[2])
    expect(broken(ended)).toEqual([])
    expect(broken(ended.held(29, 32, 1n, 100))).toEqual([])
    expect(broken(ended.held(40, 41, 1n, 100))).toEqual(['late-hold'])
  })

  it('finds a hold, and a renewal, after a loss', () => {
    const lost = (): HistoryOf => new HistoryOf().acquired(0, 10, 1n, 100).lost(50, 1n, 'taken')
    expect(broken(lost())).toEqual([])
    expect(broken(lost().held(60, 61, 1n, 100))).toEqual(['late-hold'])
    expect(broken(lost().renewed(60, 1n, 160))).toEqual(['late-hold'])
  })
})

describe('gap', () => {
  const wanted = (): HistoryOf =>
    new HistoryOf()
      .fault(10, 100)
      .call(50, 500, { call: 'acquire', outcome: 'refused' })
      .call(500, 1_000, { call: 'acquire', outcome: 'refused' }, two)

  it('finds a name without a holder after the last fault', () => {
    expect(broken(wanted(), 1_000, 300)).toEqual(['gap'])
    expect(broken(wanted(), 1_000, 950)).toEqual([])
  })

  it('counts from the last fault only, and while clients want the name', () => {
    expect(broken(wanted().acquired(150, 200, 1n, 900, two).held(890, 891, 1n, 900, two), 1_000, 300)).toEqual([])
    const unwanted = new HistoryOf().fault(10, 100).call(90, 200, { call: 'acquire', outcome: 'refused' })
    expect(broken(unwanted, 1_000, 300)).toEqual([])
  })

  it('tells the longest gap of the run, and counts outcomes', () => {
    const history = wanted().acquired(350, 400, 1n, 900, two).held(890, 891, 1n, 900, two).lost(901, 1n, 'expired')
    const { figures } = checkHistory(history.until(1_000), { longestRecovery: 1_000 })
    expect(figures.longestGap).toEqual({ name: 'x', from: 0, to: 400 })
    expect(figures).toMatchObject({
      grants: 1,
      handOvers: 0,
      losses: { expired: 1 },
      operations: { 'acquire refused': 2, 'acquire granted': 1, 'check held': 1 },
    })
  })
})
