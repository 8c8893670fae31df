import { useRef } from 'preact/hooks'
import type { Line } from '../list/lines.js'
import { usePageOn, useTick } from '../shell/page-context.js'
import { ScrollRegion } from '../shell/scroll-region.js'
import { lineKeys } from './line-keys.js'
import { LineRow } from './line-row.js'
import { SortHeader } from './sort-header.js'
import { Toolbar } from './toolbar.js'
import { useSeenLines } from './use-seen-lines.js'

/** All leases in a table of which only the visible lines are drawn. */
export function LeasesView() {
  return (
    <section class="leases" aria-labelledby="leases-title">
      <h2 id="leases-title" class="unseen">
        Leases
      </h2>
      <Toolbar canGroup />
      <LeaseTable />
    </section>
  )
}

function LeaseTable() {
  const tick = useTick(1_000)
  const { state } = usePageOn('leases', 'status')
  const scroller = useRef<HTMLElement>(null)
  const { lines } = state.listing
  const seen = useSeenLines(scroller, 'leases', lines.count)
  const isStale = state.status.kind === 'stale'
  const drawn = []
  for (let index = seen.first; index < seen.end; index += 1) {
    const line = lines.at(index)
    if (line !== undefined)
      drawn.push(<LineRow key={keyOf(line)} {...{ line, index, isStale, tick }} height={seen.lineHeight} />)
  }
  return (
    <ScrollRegion kind="scroller" region={scroller} name="List of leases">
      <table role="table" class="lease-table" aria-labelledby="leases-title" aria-rowcount={lines.count + 1}>
        <SortHeader />
        <tbody
          role="rowgroup"
          style={{ height: `${lines.count * seen.lineHeight}px` }}
          onKeyDown={lineKeys(scroller, lines.count, seen.viewport)}
        >
          {drawn}
        </tbody>
      </table>
      {lines.count === 0 && <Nothing />}
    </ScrollRegion>
  )
}

function keyOf(line: Line): string {
  return line.kind === 'group' ? `group ${line.group}` : `lease ${line.entry.row.name}`
}

function Nothing() {
  const { state } = usePageOn('leases', 'status')
  const { listing, status } = state
  if (!listing.isWhole) return <p class="nothing">{status.kind === 'connecting' ? 'Waiting for the list …' : ''}</p>
  return (
    <p class="nothing">
      {listing.size === 0
        ? 'There are no leases in this store yet. They appear here as soon as somebody acquires one.'
        : 'No lease matches the filter.'}
    </p>
  )
}
