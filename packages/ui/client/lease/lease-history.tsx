import { useEffect, useState } from 'preact/hooks'
import type { HistorySpan } from '../../src/protocol.js'
import { Instant } from '../shell/instant.js'
import { usePageOn } from '../shell/page-context.js'
import { ScrollRegion } from '../shell/scroll-region.js'
import { zooms } from '../timeline/axis.js'
import { AxisView, Legend, ZoomChoice } from '../timeline/axis-view.js'
import { isLoss } from '../timeline/lane.js'
import { endTexts, LaneView } from '../timeline/lane-view.js'
import { useLaneRange } from '../timeline/use-lane-range.js'

/** More grants are not listed one by one. */
const mostListed = 100

/** The history of one lease: as a lane, and as a table. */
export function LeaseHistory({ name }: { readonly name: string }) {
  const { history } = usePageOn('history')
  const [zoom, setZoom] = useState<number>(zooms[1])
  const range = useLaneRange(zoom)
  useEffect(() => {
    history.want([name])
    return () => history.want([])
  }, [history, name])
  const spans = history.spansOf(name)
  return (
    <section class="card lease-history" aria-labelledby="history-title">
      <div class="view-head">
        <h3 id="history-title">History</h3>
        <ZoomChoice zoom={zoom} choose={setZoom} />
      </div>
      <Legend range={range} />
      <AxisView range={range} />
      <LaneView name={name} spans={spans} range={range} />
      {spans !== undefined && spans.length > 0 && <SpanTable spans={spans} />}
      {history.isCut(name) && <p class="hint">Older grants of this lease were forgotten: there were too many.</p>}
    </section>
  )
}

function SpanTable({ spans }: { readonly spans: readonly HistorySpan[] }) {
  const { state, formats } = usePageOn('status')
  return (
    <ScrollRegion kind="wide" name="Grants">
      <table class="plain-table spans">
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col">To</th>
            <th scope="col">For</th>
            <th scope="col">Holder</th>
            <th scope="col">Token</th>
            <th scope="col">End</th>
          </tr>
        </thead>
        <tbody>
          {spans
            .slice(-mostListed)
            .reverse()
            .map((span) => (
              <tr key={`${span.token} ${span.from}`} data-loss={isLoss(span.end) || undefined}>
                <td>
                  <Instant at={span.from} isRelative={false} />
                </td>
                <td>{span.to === undefined ? 'now' : <Instant at={span.to} isRelative={false} />}</td>
                <td class="numbers">{formats.exactDuration((span.to ?? state.knownUntil) - span.from)}</td>
                <td class="mono breaks">{span.owner}</td>
                <td class="mono numbers">{span.token}</td>
                <td>{span.to === undefined ? 'still held' : endTexts[span.end ?? 'unknown']}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </ScrollRegion>
  )
}
