import { isPossiblePiece, linearize } from './linearize.js'
import type { RegisterCall } from './register-call.js'

/** The number of calls up to which a piece is shrunk call by call. */
const SHRUNK = 300

/**
 * The smallest piece of these calls, in the order of `from`, that no order explains: they end with the first call that cannot be
 * explained, begin at the last instant at which no call was under way, and leave out what does not matter.
 *
 * @param from - when the search found that nothing explains the rest.
 */
export function failingPiece(calls: readonly RegisterCall[], from: number): RegisterCall[] {
  const prefix = shortestPrefix(calls, from)
  const piece = shortestEnd(prefix)
  if (piece === undefined) return withoutIdle(prefix, (rest) => linearize(rest) === undefined)
  return withoutIdle(piece, isPossiblePiece)
}

/** What could be known at the end of the first call that nothing explains. */
function shortestPrefix(calls: readonly RegisterCall[], from: number): RegisterCall[] {
  const ends = calls.flatMap(({ to }) => (Number.isFinite(to) && to >= from ? [to] : [])).sort((a, b) => a - b)
  const prefixAt = (place: number): RegisterCall[] => knownAt(calls, ends[place] ?? Infinity)
  const fails = (place: number): boolean => linearize(prefixAt(place)) !== undefined
  return prefixAt(firstThat(ends.length - 1, fails))
}

function knownAt(calls: readonly RegisterCall[], at: number): RegisterCall[] {
  const known: RegisterCall[] = []
  for (const call of calls) {
    if (call.from > at) break
    if (call.to <= at) known.push(call)
    else if (call.call === 'write' && call.outcome !== 'refused') known.push({ ...call, outcome: 'unknown' })
  }
  return known
}

/** From the last instant without a call under way from which on the calls fail on their own, if there is one. */
function shortestEnd(calls: readonly RegisterCall[]): RegisterCall[] | undefined {
  const begins: number[] = []
  let settled = Number.NEGATIVE_INFINITY
  for (const [place, { outcome, from, to }] of calls.entries()) {
    if (settled < from) begins.unshift(place)
    if (outcome !== 'unknown') settled = Math.max(settled, to)
  }
  const pieceFrom = (begin: number): RegisterCall[] => [
    ...calls.slice(0, begin).filter(({ call, outcome }) => call === 'write' && outcome === 'unknown'),
    ...calls.slice(begin),
  ]
  const fails = (place: number): boolean => !isPossiblePiece(pieceFrom(begins[place] ?? 0))
  // The first calls of a register fail in a new one only: then, all of them are needed.
  const place = firstThat(begins.length - 1, fails)
  return fails(place) ? pieceFrom(begins[place] ?? 0) : undefined
}

/** The first place up to `last` for which this holds, if it holds for all after; tried near the begin first. */
function firstThat(last: number, holds: (place: number) => boolean): number {
  let step = 1
  let above = -1
  let place = 0
  while (place < last && !holds(place)) {
    above = place
    place = Math.min(last, place + step)
    step *= 2
  }
  while (place - above > 1) {
    const middle = Math.floor((above + place) / 2)
    if (holds(middle)) place = middle
    else above = middle
  }
  return place
}

/** Leaves out each call without which the rest is still not possible. */
function withoutIdle(
  piece: readonly RegisterCall[],
  isPossible: (calls: readonly RegisterCall[]) => boolean,
): RegisterCall[] {
  let calls = [...piece]
  if (calls.length <= SHRUNK) {
    for (const call of piece) {
      // An accepted write may have explained a read or a refusal: without its outcome, it may still.
      const weaker: RegisterCall[] =
        call.call === 'write' && call.outcome === 'accepted' ? [{ ...call, outcome: 'unknown', to: Infinity }] : []
      const tried = calls.flatMap((each) => (each.id === call.id ? weaker : [each]))
      if (call.call === 'write' && call.outcome === 'unknown') continue
      if (!isPossible(tried)) calls = tried
    }
  }
  const kept = new Set(calls.filter((call) => matters(call, calls)).map(({ id }) => id))
  return piece.filter(({ id }) => kept.has(id))
}

/** A write with an unknown outcome explains a read of its value, or that a smaller token was refused, and nothing else. */
function matters(call: RegisterCall, calls: readonly RegisterCall[]): boolean {
  if (call.outcome !== 'unknown') return true
  if (call.call === 'read') return false
  return calls.some(
    (other) =>
      (other.call === 'read' && other.value === call.value) ||
      (other.call === 'write' && other.outcome === 'refused' && other.token < call.token),
  )
}
