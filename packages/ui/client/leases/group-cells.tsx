import type { Line } from '../list/lines.js'
import { usePage } from '../shell/page-context.js'

/** The heading of a group, which opens and closes it. */
export function GroupCells({ line }: { readonly line: Line & { readonly kind: 'group' } }) {
  const { state, formats } = usePage()
  const { group, count, isOpen } = line
  const toggle = () => {
    const { view } = state.listing
    const closed = new Set(view.closed)
    if (!closed.delete(group)) closed.add(group)
    state.look({ ...view, closed })
  }
  return (
    <th role="rowheader" scope="rowgroup" colSpan={7} class="cell-group">
      <button type="button" aria-expanded={isOpen} onClick={toggle}>
        <span class="twist" aria-hidden="true" />
        {group === '' ? 'No prefix' : group}
        <span class="count">{formats.number(count)}</span>
      </button>
    </th>
  )
}
