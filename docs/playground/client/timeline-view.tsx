import { placeOf } from '../../../packages/ui/client/timeline/axis.js'
import type { Tenure } from '../world/tenures.js'
import { type Absence, letterOf, type Write } from '../world/world.js'
import { useWorld } from './player-context.js'

/** How much of the past is shown, in milliseconds. */
const SPAN = 24_000

const TICK = 4_000

interface Range {
  readonly from: number
  readonly to: number
}

/** Who could act when, on one axis: the pieces of two nodes never overlap. */
export function TimelineView() {
  const world = useWorld()
  const to = Math.max(SPAN, world.now)
  const range = { from: to - SPAN, to }
  return (
    <section class="card history" aria-labelledby="timeline-title">
      <h2 id="timeline-title">Who may act</h2>
      <Axis range={range} />
      {[0, 1, 2].map((node) => (
        <Lane
          key={node}
          name={letterOf(node)}
          tenures={world.tenuresOf(node).all}
          absences={world.absencesOf(node)}
          writes={world.writes.filter((write) => write.node === node)}
          range={range}
          now={world.now}
        />
      ))}
      <Lane name="Store" tenures={world.locks.all} range={range} now={world.now} />
      <ul class="legend" aria-label="Signs">
        <li>
          <span class="sample" data-kind="held" aria-hidden="true" /> valid, on the node’s own clock
        </li>
        <li>
          <span class="sample" data-kind="blind" aria-hidden="true" /> paused or dead
        </li>
        <li>
          <span class="write-at" aria-hidden="true" /> write accepted
        </li>
        <li>
          <span class="mark-sign" data-kind="broken" aria-hidden="true">
            ✕
          </span>{' '}
          write refused
        </li>
      </ul>
    </section>
  )
}

function Axis({ range }: { readonly range: Range }) {
  const first = Math.ceil(range.from / TICK)
  const ticks = Array.from({ length: SPAN / TICK + 1 }, (_, place) => (first + place) * TICK)
  return (
    <div class="history-lane" aria-hidden="true">
      <span />
      <div class="axis">
        {ticks
          .filter((tick) => tick < range.to - SPAN / 20)
          .map((tick) => (
            <span key={tick} class="tick" style={{ left: `${placeOf(tick, range)}%` }}>
              {tick / 1_000} s
            </span>
          ))}
      </div>
    </div>
  )
}

function Lane(lane: {
  readonly name: string
  readonly tenures: readonly Tenure[]
  readonly absences?: readonly Absence[]
  readonly writes?: readonly Write[]
  readonly range: Range
  readonly now: number
}) {
  const { name, tenures, absences = [], writes = [], range, now } = lane
  const isStore = name === 'Store'
  const last = tenures.at(-1)
  const holds = last?.isOpen === true ? `now, with token ${last.fencingToken}` : 'not now'
  const label = isStore
    ? `Store: keeps the name ${last?.isOpen === true ? `for ${letterOf(last.node)}` : 'for nobody'}`
    : `${name}: may act ${holds}`
  return (
    <div class="history-lane">
      <span class="lane-name" aria-hidden="true">
        {name}
      </span>
      <div class="lane" role="img" aria-label={label}>
        {absences.map(({ from, to = now }) => (
          <Piece key={`absent ${from}`} kind="blind" from={from} to={to} range={range} />
        ))}
        {tenures.map(({ node, fencingToken, from, to }) => (
          <Piece
            key={from}
            kind="held"
            tone={node + 1}
            from={from}
            to={to}
            range={range}
            text={isStore ? `${letterOf(node)} #${fencingToken}` : `#${fencingToken}`}
          />
        ))}
        {writes
          .filter(({ at }) => at >= range.from)
          .map(({ at, fencingToken, isAccepted }) =>
            isAccepted ? (
              <span key={at} class="write-at" style={{ left: `${placeOf(at, range)}%` }} />
            ) : (
              <span
                key={at}
                class="mark-at"
                data-kind="broken"
                style={{ left: `${placeOf(at, range)}%` }}
                title={`A write with token ${fencingToken} was refused`}
              >
                ✕
              </span>
            ),
          )}
      </div>
    </div>
  )
}

function Piece(piece: {
  readonly kind: 'held' | 'blind'
  readonly from: number
  readonly to: number
  readonly range: Range
  readonly tone?: number
  readonly text?: string
}) {
  const { kind, from, to, range, tone, text } = piece
  if (to < range.from) return null
  const left = Math.max(0, placeOf(from, range))
  const width = Math.max(0, placeOf(to, range) - left)
  return (
    <span class="piece" data-kind={kind} data-tone={tone} style={{ left: `${left}%`, width: `${width}%` }}>
      {width > 6 ? text : ''}
    </span>
  )
}
