import type { RowState } from '../../src/protocol.js'
import type { Entry } from './entry.js'

export const states: readonly RowState[] = ['leased', 'expired', 'breaking', 'broken', 'available']

/** Which rows are shown. */
export interface Filter {
  /** Words that must all occur in the name, the holder or the kind, in any case of letters. */
  readonly text: string
  /** Empty for all. */
  readonly states: ReadonlySet<RowState>
}

export const everything: Filter = { text: '', states: new Set() }

export function matcherOf(filter: Filter): (entry: Entry) => boolean {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean)
  return (entry) =>
    (filter.states.size === 0 || filter.states.has(entry.row.state)) &&
    words.every((word) => entry.searched.includes(word))
}
