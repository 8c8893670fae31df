import type { LeaseRow } from '../../src/protocol.js'
import type { Entry } from '../list/entry.js'
import { leaseHref } from '../route/route.js'
import { usePage } from '../shell/page-context.js'
import { StateMark } from './states.js'
import { ValidityBar } from './validity-bar.js'

/** The cells of one lease, in the order of the columns. */
export function LeaseCells({ entry, isStale }: { readonly entry: Entry; readonly isStale: boolean }) {
  const { formats } = usePage()
  const { row } = entry
  return (
    <>
      <td role="cell" class="cell-name">
        <a href={leaseHref(row.name)} title={row.name}>
          {row.name === '' ? '(empty name)' : row.name}
        </a>
        {row.recipe !== undefined && <span class="kind">{row.recipe.kind}</span>}
      </td>
      <td role="cell" class="cell-state">
        <StateMark state={row.state} isStale={isStale} />
      </td>
      <td role="cell" class="cell-owner">
        {row.owner === '' ? <span class="none">–</span> : <span title={row.owner}>{row.owner}</span>}
      </td>
      <td role="cell" class="cell-since">
        <Since row={row} />
      </td>
      <td role="cell" class="cell-token">
        {row.token}
      </td>
      <td role="cell" class="cell-validity">
        <ValidityBar entry={entry} isStale={isStale} />
      </td>
      <td role="cell" class="cell-waiters" data-count={row.waiters ?? 0}>
        {row.waiters === undefined ? <span class="none">–</span> : formats.number(row.waiters)}
        <span class="phone-only"> waiting</span>
      </td>
    </>
  )
}

/** For how long it has been held; at least, where the server only knows when it saw the grant first. */
function Since({ row }: { readonly row: LeaseRow }) {
  const { state, formats } = usePage()
  if (row.since === undefined || row.owner === '') return <span class="none">–</span>
  const now = state.knownUntil
  const duration = formats.duration(now - row.since)
  const at = formats.dateAndTime(row.since)
  return (
    <time
      dateTime={dateOf(row.since)}
      title={row.isSeen ? `First seen ${at}; held since an earlier time` : `Since ${at}`}
    >
      {row.isSeen ? `≥ ${duration}` : duration}
    </time>
  )
}

/** An instant that no date can have must not stop the page. */
function dateOf(instant: number): string {
  const date = new Date(instant)
  return Number.isNaN(date.getTime()) ? '' : date.toISOString()
}
