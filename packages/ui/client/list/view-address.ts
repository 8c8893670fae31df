import type { RowState } from '../../src/protocol.js'
import { states } from './filter.js'
import { firstView, type ListView } from './listing.js'
import { type Column, columns } from './order.js'

/** How the reader looks at the list, as the end of the page's address: empty for the first view. Closed groups are not in it. */
export function queryOf({ filter, order, isGrouped }: ListView): string {
  const query = new URLSearchParams()
  if (filter.text !== '') query.set('text', filter.text)
  for (const state of filter.states) query.append('state', state)
  if (order.column !== 'name' || order.isDescending)
    query.set('sort', `${order.isDescending ? '-' : ''}${order.column}`)
  if (isGrouped) query.set('group', 'prefix')
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

/** Anybody can type an address: what is not known in it is left out. */
export function viewOf(query: string): ListView {
  const given = new URLSearchParams(query)
  const sort = given.get('sort') ?? ''
  const isDescending = sort.startsWith('-')
  const column = columns.find((each): each is Column => each === sort.slice(isDescending ? 1 : 0))
  const chosen = given.getAll('state').filter((each): each is RowState => states.some((state) => state === each))
  return {
    ...firstView,
    filter: { text: given.get('text') ?? '', states: new Set(chosen) },
    order: column === undefined ? firstView.order : { column, isDescending },
    isGrouped: given.get('group') === 'prefix',
  }
}
