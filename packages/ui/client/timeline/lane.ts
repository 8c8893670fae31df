import type { HistorySpan, SpanEnd } from '../../src/protocol.js'

/** The time that a lane shows, and the parts of it that the server observed. */
export interface LaneRange {
  readonly from: number
  readonly to: number
  readonly observedSince: number
  readonly blind: readonly { readonly from: number; readonly to?: number }[]
}

interface Stretch {
  readonly from: number
  readonly to: number
}

export type Piece = Stretch &
  (
    | { readonly kind: 'held'; readonly span: HistorySpan }
    /** Nobody held it after a release. */
    | { readonly kind: 'free' }
    /** Nobody held it after a loss. */
    | { readonly kind: 'gap' }
    /** The server did not see it. */
    | { readonly kind: 'blind' }
    /** Grants that are too short to draw. */
    | { readonly kind: 'many'; readonly count: number }
  )

/** An instant of a lane: the holder changed, or lost the lease. */
export interface LaneMark {
  readonly at: number
  readonly kind: 'hand-over' | Exclude<SpanEnd, 'released' | 'handed-off'>
  readonly owner: string
  readonly next: string | undefined
}

export interface Lane {
  readonly pieces: readonly Piece[]
  readonly marks: readonly LaneMark[]
  readonly summary: LaneSummary
}

/** Shorter parts of the range are not drawn one by one. */
const shortest = 1 / 400

/** A lease that another owner has this soon was handed over, unless it was lost. */
const handOverWithin = 1_500

/** `spans` are in the order of their time. */
export function laneOf(spans: readonly HistorySpan[], range: LaneRange): Lane {
  const pieces: Piece[] = []
  const marks: LaneMark[] = []
  spans.forEach((span, index) => {
    const next = spans[index + 1]
    const before = spans[index - 1]
    // Before the first grant that was seen, nobody held it, as far as the server looked.
    const freeFrom = before === undefined ? range.observedSince : before.to
    if (freeFrom !== undefined)
      pieces.push({ kind: isLoss(before?.end) ? 'gap' : 'free', from: freeFrom, to: span.from })
    pieces.push({ kind: 'held', from: span.from, to: span.to ?? range.to, span })
    const mark = markOf(span, next)
    if (mark !== undefined) marks.push(mark)
  })
  const last = spans.at(-1)
  const freeSince = last === undefined ? range.observedSince : last.to
  if (freeSince !== undefined) pieces.push({ kind: isLoss(last?.end) ? 'gap' : 'free', from: freeSince, to: range.to })
  const clipped = pieces.map((piece) => clip(piece, range)).filter((piece) => piece.to > piece.from)
  const blind = blindPieces(range)
  const seenMarks = marks.filter(({ at }) => at >= range.from && at <= range.to)
  return {
    pieces: [...joined(clipped, (range.to - range.from) * shortest), ...blind],
    marks: seenMarks,
    summary: summaryOf(clipped, seenMarks, blind),
  }
}

/** Whether the holder lost it. An end that nobody saw may have been a release. */
export function isLoss(end: SpanEnd | undefined): end is 'expired' | 'broken' {
  return end === 'expired' || end === 'broken'
}

function markOf(span: HistorySpan, next: HistorySpan | undefined): LaneMark | undefined {
  if (span.to === undefined) return undefined
  const mark = { at: span.to, owner: span.owner, next: next?.owner }
  if (isLoss(span.end)) return { ...mark, kind: span.end }
  const isHandedOver =
    next !== undefined &&
    next.owner !== span.owner &&
    (span.end === 'handed-off' || next.from - span.to <= handOverWithin)
  if (isHandedOver) return { ...mark, kind: 'hand-over' }
  return span.end === 'unknown' ? { ...mark, kind: 'unknown' } : undefined
}

/** Runs of pieces that are too short to see become one. */
function joined(pieces: readonly Piece[], least: number): Piece[] {
  const result: Piece[] = []
  for (const piece of pieces) {
    const last = result.at(-1)
    const isShort = piece.to - piece.from < least
    const count = piece.kind === 'held' ? 1 : 0
    if (isShort && last?.kind === 'many')
      result[result.length - 1] = { ...last, to: piece.to, count: last.count + count }
    else if (isShort && piece.kind === 'held') result.push({ kind: 'many', from: piece.from, to: piece.to, count })
    else if (!isShort || piece.kind === 'gap') result.push(piece)
  }
  return result
}

function blindPieces(range: LaneRange): Piece[] {
  const before = { from: range.from, to: range.observedSince }
  return [before, ...range.blind.map(({ from, to = range.to }) => ({ from, to }))]
    .map((stretch): Piece => clip({ ...stretch, kind: 'blind' as const }, range))
    .filter(({ from, to }) => to > from)
}

function clip<T extends Stretch>(stretch: T, { from, to }: Stretch): T {
  return { ...stretch, from: Math.max(stretch.from, from), to: Math.min(stretch.to, to) }
}

/** A lane in words, for screen readers: all grants of the range, also those that are too short to draw. */
export interface LaneSummary {
  readonly holders: number
  readonly handOvers: number
  readonly losses: number
  /** Ends of which it is not known how they came. */
  readonly unseenEnds: number
  readonly gaps: number
  readonly gapTime: number
  readonly blindTime: number
}

function summaryOf(pieces: readonly Piece[], marks: readonly LaneMark[], blind: readonly Piece[]): LaneSummary {
  const gaps = pieces.filter(({ kind }) => kind === 'gap')
  return {
    holders: new Set(pieces.flatMap((piece) => (piece.kind === 'held' ? [piece.span.owner] : []))).size,
    handOvers: marks.filter(({ kind }) => kind === 'hand-over').length,
    losses: marks.filter(({ kind }) => kind === 'expired' || kind === 'broken').length,
    unseenEnds: marks.filter(({ kind }) => kind === 'unknown').length,
    gaps: gaps.length,
    gapTime: timeOf(gaps),
    blindTime: timeOf(blind),
  }
}

function timeOf(stretches: readonly Stretch[]): number {
  return stretches.reduce((sum, { from, to }) => sum + to - from, 0)
}
