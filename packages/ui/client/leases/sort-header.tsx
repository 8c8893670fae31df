import type { Column, Order } from '../list/order.js'
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

/** The same in a narrow window, where each lease is a card without headings. */
export function SortChoice() {
  const { state } = usePageOn('leases')
  const { order } = state.listing.view
  const sort = (part: Partial<Order>) => {
    const { view } = state.listing
    state.look({ ...view, order: { ...view.order, ...part } })
  }
  return (
    <div class="sort-choice">
      <label for="sort-by">Sort by</label>
      <select
        id="sort-by"
        value={order.column}
        onChange={({ currentTarget }) => {
          const column = titles[currentTarget.selectedIndex]?.[0]
          if (column !== undefined) sort({ column })
        }}
      >
        {titles.map(([column, title]) => (
          <option key={column} value={column}>
            {title}
          </option>
        ))}
      </select>
      <button
        type="button"
        class="chip"
        aria-pressed={order.isDescending}
        onClick={() => sort({ isDescending: !state.listing.view.order.isDescending })}
      >
        Reverse
      </button>
    </div>
  )
}
