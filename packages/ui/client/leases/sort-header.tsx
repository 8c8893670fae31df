import type { Column } from '../list/order.js'
import { usePageOn } from '../shell/page-context.js'

const titles: readonly (readonly [column: Column, title: string])[] = [
  ['name', 'Name'],
  ['state', 'State'],
  ['owner', 'Holder'],
  ['since', 'Held for'],
  ['token', 'Token'],
  ['validity', 'Validity left'],
  ['waiters', 'Waiting'],
]

/** The headings of the columns, which sort the list. */
export function SortHeader() {
  const { state } = usePageOn('leases')
  const { order } = state.listing.view
  const sortBy = (column: Column) => {
    const { view: now } = state.listing
    const isDescending = now.order.column === column && !now.order.isDescending
    state.look({ ...now, order: { column, isDescending } })
  }
  return (
    <thead role="rowgroup">
      <tr role="row" aria-rowindex={1}>
        {titles.map(([column, title]) => (
          <th
            key={column}
            role="columnheader"
            scope="col"
            class={`cell-${column}`}
            aria-sort={order.column !== column ? undefined : order.isDescending ? 'descending' : 'ascending'}
          >
            <button type="button" onClick={() => sortBy(column)}>
              {title}
              <span class="sort-mark" aria-hidden="true">
                {order.column !== column ? '' : order.isDescending ? '▼' : '▲'}
              </span>
            </button>
          </th>
        ))}
      </tr>
    </thead>
  )
}
