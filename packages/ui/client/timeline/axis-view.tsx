import { usePage } from '../shell/page-context.js'
import { placeOf, ticksOf, zooms } from './axis.js'
import type { LaneRange } from './lane.js'

/** Times above the lanes. */
export function AxisView({ range }: { readonly range: LaneRange }) {
  const { formats } = usePage()
  return (
    <div class="axis" aria-hidden="true">
      {ticksOf(range, 6).map((tick) => (
        <span key={tick} class="tick" style={{ left: `${placeOf(tick, range)}%` }}>
          {/* A name at the right edge would be cut. */}
          {placeOf(tick, range) < 92 && formats.minutes(tick, range.to)}
        </span>
      ))}
    </div>
  )
}

/** How much of the past is shown. */
export function ZoomChoice({ zoom, choose }: { readonly zoom: number; readonly choose: (zoom: number) => void }) {
  const { formats } = usePage()
  return (
    <fieldset class="segments">
      <legend class="unseen">Shown time</legend>
      {zooms.map((one) => (
        <button key={one} type="button" class="chip" aria-pressed={one === zoom} onClick={() => choose(one)}>
          {formats.duration(one)}
        </button>
      ))}
    </fieldset>
  )
}

/** The meaning of the signs, and the beginning of the observation. */
export function Legend({ range }: { readonly range: LaneRange }) {
  const { formats, history } = usePage()
  return (
    <div class="legend">
      <p>
        Observed since{' '}
        <time dateTime={new Date(range.observedSince).toISOString()}>
          {formats.time(range.observedSince, range.to)}
        </time>
        ; what happened before is not known.
      </p>
      {history.error !== undefined && <p class="refused">{history.error}</p>}
      <ul aria-label="Signs">
        <li>
          <span class="sample" data-kind="held" aria-hidden="true" /> held
        </li>
        <li>
          <span class="sample" data-kind="free" aria-hidden="true" /> free
        </li>
        <li>
          <span class="sample" data-kind="gap" aria-hidden="true" /> nobody, after a loss
        </li>
        <li>
          <span class="sample" data-kind="blind" aria-hidden="true" /> not observed
        </li>
        <li>
          <span class="mark-sign" data-kind="hand-over">
            ⇄
          </span>{' '}
          hand-over
        </li>
        <li>
          <span class="mark-sign" data-kind="expired">
            ▼
          </span>{' '}
          expired
        </li>
        <li>
          <span class="mark-sign" data-kind="broken">
            ✕
          </span>{' '}
          broken
        </li>
        <li>
          <span class="mark-sign" data-kind="unknown">
            ?
          </span>{' '}
          ended unseen
        </li>
      </ul>
    </div>
  )
}
