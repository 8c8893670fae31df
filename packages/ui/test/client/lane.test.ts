import { describe, expect, it } from 'vitest'
import { placeOf, ticksOf } from '../../client/timeline/axis.js'
import { type LaneRange, laneOf } from '../../client/timeline/lane.js'
import type { HistorySpan, SpanEnd } from '../../src/protocol.js'

const range: LaneRange = { from: 0, to: 100_000, observedSince: 10_000, blind: [] }

const span = (from: number, to: number | undefined, owner: string, end?: SpanEnd): HistorySpan => ({
  from,
  owner,
  token: '1',
  ...(to !== undefined && { to }),
  ...(end !== undefined && { end }),
})

const drawn = (spans: readonly HistorySpan[], more: Partial<LaneRange> = {}) => {
  const lane = laneOf(spans, { ...range, ...more })
  return {
    pieces: lane.pieces.map(({ kind, from, to }) => `${kind} ${from / 1_000}-${to / 1_000}`),
    marks: lane.marks.map(({ kind, at }) => `${kind} ${at / 1_000}`),
    summary: lane.summary,
  }
}

describe('laneOf', () => {
  it('shows who holds it now, and what was before anybody looked as blind', () => {
    expect(drawn([span(20_000, undefined, 'ada')]).pieces).toEqual(['free 10-20', 'held 20-100', 'blind 0-10'])
  })

  it('shows a lease that nobody ever held as free', () => {
    expect(drawn([]).pieces).toEqual(['free 10-100', 'blind 0-10'])
  })

  it('shows the time after a loss as a gap, and the time after a release as free', () => {
    const { pieces, marks, summary } = drawn([
      span(10_000, 30_000, 'ada', 'expired'),
      span(40_000, 50_000, 'grace', 'released'),
      span(60_000, 70_000, 'zoe', 'broken'),
    ])
    expect(pieces).toEqual([
      'held 10-30',
      'gap 30-40',
      'held 40-50',
      'free 50-60',
      'held 60-70',
      'gap 70-100',
      'blind 0-10',
    ])
    expect(marks).toEqual(['expired 30', 'broken 70'])
    expect(summary).toEqual({
      holders: 3,
      handOvers: 0,
      losses: 2,
      unseenEnds: 0,
      gaps: 2,
      gapTime: 40_000,
      blindTime: 10_000,
    })
  })

  it('marks a hand-over, also one by a release and a quick acquire; not of an owner to itself', () => {
    expect(drawn([span(10_000, 30_000, 'ada', 'handed-off'), span(30_000, undefined, 'grace')]).marks).toEqual([
      'hand-over 30',
    ])
    expect(drawn([span(10_000, 30_000, 'ada', 'released'), span(31_000, undefined, 'grace')]).marks).toEqual([
      'hand-over 30',
    ])
    expect(drawn([span(10_000, 30_000, 'ada', 'released'), span(31_000, undefined, 'ada')]).marks).toEqual([])
    expect(drawn([span(10_000, 30_000, 'ada', 'released'), span(60_000, undefined, 'grace')]).marks).toEqual([])
  })

  it('does not call an end that nobody saw a loss', () => {
    const seen = drawn([span(10_000, 30_000, 'ada', 'unknown'), span(60_000, 70_000, 'ada', 'unknown')])
    expect(seen.pieces).toEqual(['held 10-30', 'free 30-60', 'held 60-70', 'free 70-100', 'blind 0-10'])
    expect(seen.marks).toEqual(['unknown 30', 'unknown 70'])
    expect(seen.summary).toMatchObject({ losses: 0, unseenEnds: 2, gaps: 0 })
    // The next holder was there at once.
    expect(drawn([span(10_000, 30_000, 'ada', 'unknown'), span(30_500, undefined, 'bob')]).marks).toEqual([
      'hand-over 30',
    ])
  })

  it('shows when the server could not look, up to now if it still cannot', () => {
    const { pieces } = drawn([], { blind: [{ from: 20_000, to: 25_000 }, { from: 90_000 }] })
    expect(pieces).toEqual(['free 10-100', 'blind 0-10', 'blind 20-25', 'blind 90-100'])
  })

  it('cuts what is older than the shown time', () => {
    expect(drawn([span(-50_000, 50_000, 'ada', 'released')], { observedSince: -80_000 }).pieces).toEqual([
      'held 0-50',
      'free 50-100',
    ])
  })

  it('draws grants that are too short to see as one piece', () => {
    const spans = Array.from({ length: 50 }, (_, index) =>
      span(20_000 + index * 200, 20_100 + index * 200, `owner ${index}`, 'released'),
    )
    const { pieces, summary } = drawn(spans)
    expect(pieces).toEqual(['free 10-20', 'many 20-29.9', 'free 29.9-100', 'blind 0-10'])
    // The summary counts each of them.
    expect(summary).toMatchObject({ holders: 50, handOvers: 49, losses: 0 })
  })
})

describe('the axis', () => {
  it('names round times', () => {
    const minute = 60_000
    expect(ticksOf({ from: 7 * minute, to: 67 * minute }, 6)).toEqual(
      [10, 20, 30, 40, 50, 60].map((each) => each * minute),
    )
    expect(ticksOf({ from: 0, to: 15 * minute }, 6).length).toBeLessThanOrEqual(6)
    expect(ticksOf({ from: 30 * minute, to: 390 * minute }, 6).length).toBe(6)
  })

  it('places times in percent', () => {
    expect(placeOf(25, { from: 0, to: 100 })).toBe(25)
  })
})
