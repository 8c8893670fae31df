import type { HistorySpan } from '../../src/protocol.js'
import type { Formats } from '../format/formats.js'
import { usePage } from '../shell/page-context.js'
import { placeOf } from './axis.js'
import { type LaneMark, type LaneRange, type LaneSummary, laneOf, type Piece } from './lane.js'
import { toneOf } from './tone.js'

export const endTexts = {
  released: 'released',
  expired: 'expired',
  broken: 'broken',
  'handed-off': 'handed off',
  unknown: 'ended, it is not known how',
} as const

const markTexts: Readonly<Record<LaneMark['kind'], readonly [sign: string, text: string]>> = {
  'hand-over': ['⇄', 'handed over'],
  expired: ['▼', 'expired'],
  broken: ['✕', 'broken'],
  unknown: ['?', 'ended, it is not known how'],
}

/** The holders of one lease, as a picture and as a sentence. */
export function LaneView(lane: {
  readonly name: string
  readonly spans: readonly HistorySpan[] | undefined
  readonly range: LaneRange
}) {
  const { state, formats } = usePage()
  const { name, spans, range } = lane
  if (spans === undefined) return <div class="lane" data-empty />
  const drawn = laneOf(spans, range)
  const isStale = state.status.kind === 'stale'
  return (
    <div
      class="lane"
      role="img"
      aria-label={sentenceOf(`${name}: ${isStale ? 'was ' : ''}${holderOf(spans)}.`, drawn.summary, formats)}
    >
      {drawn.pieces.map((piece) => (
        <PieceView key={`${piece.kind} ${piece.from}`} piece={piece} range={range} />
      ))}
      {drawn.marks.map((mark) => (
        <span
          key={`${mark.kind} ${mark.at}`}
          class="mark-at"
          data-kind={mark.kind}
          style={{ left: `${placeOf(mark.at, range)}%` }}
          title={markTitle(mark, formats, range.to)}
        >
          {markTexts[mark.kind][0]}
        </span>
      ))}
    </div>
  )
}

function PieceView({ piece, range }: { readonly piece: Piece; readonly range: LaneRange }) {
  const { formats } = usePage()
  const left = placeOf(piece.from, range)
  const width = placeOf(piece.to, range) - left
  const owner = piece.kind === 'held' ? piece.span.owner || 'unknown holder' : ''
  return (
    <span
      class="piece"
      data-kind={piece.kind}
      data-tone={piece.kind === 'held' ? toneOf(owner) : undefined}
      data-lasts={(piece.kind === 'held' && piece.span.to === undefined) || undefined}
      style={{ left: `${left}%`, width: `${width}%` }}
      title={pieceTitle(piece, formats, range.to)}
    >
      {piece.kind === 'held' && width > 4 ? owner : ''}
    </span>
  )
}

function pieceTitle(piece: Piece, formats: Formats, now: number): string {
  const when = `${formats.time(piece.from, now)} – ${formats.time(piece.to, now)}, ${formats.exactDuration(piece.to - piece.from)}`
  switch (piece.kind) {
    case 'held': {
      const { owner, token, end, to } = piece.span
      return `${owner || 'unknown holder'}, token ${token}\n${when}\n${to === undefined ? 'still held' : endTexts[end ?? 'unknown']}`
    }
    case 'many':
      return `${formats.number(piece.count)} short grants\n${when}`
    case 'blind':
      return `Not observed\n${when}`
    case 'gap':
      return `Nobody held it after a loss\n${when}`
    case 'free':
      return `Nobody held it\n${when}`
  }
}

function markTitle({ kind, owner, next, at }: LaneMark, formats: Formats, now: number): string {
  const way = next === undefined ? owner : `${owner} → ${next}`
  return `${way}\n${markTexts[kind][1]} at ${formats.time(at, now)}`
}

function holderOf(spans: readonly HistorySpan[]): string {
  const last = spans.at(-1)
  return last === undefined || last.to !== undefined ? 'held by nobody' : `held by ${last.owner}`
}

function sentenceOf(holder: string, summary: LaneSummary, formats: Formats): string {
  const { holders, handOvers, losses, unseenEnds, gaps, gapTime, blindTime } = summary
  const many = (count: number, one: string, more: string) => `${formats.number(count)} ${count === 1 ? one : more}`
  return [
    holder,
    `${many(holders, 'holder', 'holders')}, ${many(handOvers, 'hand-over', 'hand-overs')}, ${many(losses, 'loss', 'losses')}.`,
    unseenEnds > 0 ? `${many(unseenEnds, 'end', 'ends')} that nobody saw.` : '',
    gaps > 0 ? `Nobody held it for ${formats.spokenDuration(gapTime)} after losses.` : '',
    blindTime > 0 ? `Not observed for ${formats.spokenDuration(blindTime)}.` : '',
  ]
    .filter(Boolean)
    .join(' ')
}
