import { useEffect, useRef, useState } from 'preact/hooks'
import { lineKeys } from '../leases/line-keys.js'
import { Toolbar } from '../leases/toolbar.js'
import { useSeenLines } from '../leases/use-seen-lines.js'
import { leaseHref } from '../route/route.js'
import { usePageOn } from '../shell/page-context.js'
import { ScrollRegion } from '../shell/scroll-region.js'
import { zooms } from './axis.js'
import { AxisView, Legend, ZoomChoice } from './axis-view.js'
import type { LaneRange } from './lane.js'
import { LaneView } from './lane-view.js'
import { useLaneRange } from './use-lane-range.js'

/** The holders over the last hours: one lane for each lease, in the order of the list. */
export function TimelineView() {
  const [zoom, setZoom] = useState<number>(zooms[1])
  const range = useLaneRange(zoom)
  return (
    <section class="timeline" aria-labelledby="timeline-title">
      <div>
        <h2 id="timeline-title" class="unseen">
          Timeline
        </h2>
        <Toolbar canGroup={false}>
          <ZoomChoice zoom={zoom} choose={setZoom} />
        </Toolbar>
        <Legend range={range} />
      </div>
      <Lanes range={range} />
    </section>
  )
}

function Lanes({ range }: { readonly range: LaneRange }) {
  const { state, history } = usePageOn('leases', 'history')
  const scroller = useRef<HTMLElement>(null)
  const { shown } = state.listing
  const seen = useSeenLines(scroller, 'timeline', shown.length)
  const drawn = shown.slice(seen.first, seen.end)
  const names = drawn.map(({ row }) => row.name)
  useEffect(() => {
    history.want(names)
    return () => history.want([])
  }, [history, names.join('\n')])
  const height = seen.lineHeight
  return (
    <ScrollRegion kind="scroller" region={scroller} name="Lanes">
      <table role="table" class="lane-table" aria-labelledby="timeline-title" aria-rowcount={shown.length + 1}>
        <thead role="rowgroup">
          <tr role="row" aria-rowindex={1}>
            <th role="columnheader" scope="col">
              Name
            </th>
            <th role="columnheader" scope="col">
              <span class="unseen">Holders over time</span>
              <AxisView range={range} />
            </th>
          </tr>
        </thead>
        <tbody
          role="rowgroup"
          style={{ height: `${shown.length * height}px` }}
          onKeyDown={lineKeys(scroller, shown.length, seen.viewport)}
        >
          {drawn.map(({ row: { name, owner } }, place) => (
            <tr
              key={name}
              role="row"
              class="lane-row"
              data-line={seen.first + place}
              aria-rowindex={seen.first + place + 2}
              style={{ top: `${(seen.first + place) * height}px`, height: `${height}px` }}
            >
              <th role="rowheader" scope="row" class="cell-name">
                <a href={leaseHref(name)} title={name}>
                  {name}
                </a>
                {owner !== '' && (
                  <span class="lane-owner" title={owner}>
                    {owner}
                  </span>
                )}
              </th>
              <td role="cell">
                <LaneView name={name} spans={history.spansOf(name)} range={range} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {shown.length === 0 && <p class="nothing">No lease matches the filter.</p>}
    </ScrollRegion>
  )
}
