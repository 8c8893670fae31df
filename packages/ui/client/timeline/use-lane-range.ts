import { usePageOn, useTick } from '../shell/page-context.js'
import type { LaneRange } from './lane.js'

/** The last `zoom` milliseconds, and what of them the server saw. It moves on by whole pixels only. */
export function useLaneRange(zoom: number): LaneRange {
  useTick(Math.max(1_000, zoom / 1_000))
  const { state, history } = usePageOn('history', 'status')
  const to = state.serverNow
  const observedSince = history.observedSince ?? state.hello?.observedSince ?? to
  // Nor is anything known since the page became stale.
  const unknown = state.status.kind === 'stale' ? [{ from: state.knownUntil, to }] : []
  return { from: to - zoom, to, observedSince, blind: [...history.blind, ...unknown] }
}
