import type { RowState } from '../../src/protocol.js'
import type { Entry } from './entry.js'

export const columns = ['name', 'state', 'owner', 'since', 'token', 'validity', 'waiters'] as const
export type Column = (typeof columns)[number]

/** How the list is sorted. */
export interface Order {
  readonly column: Column
  readonly isDescending: boolean
}

export type Comparison = (a: Entry, b: Entry) => number

/** States that need a look come first. */
const ranks: Readonly<Record<RowState, number>> = { broken: 0, breaking: 1, expired: 2, leased: 3, available: 4 }

const byColumn: Readonly<Record<Column, Comparison>> = {
  name: () => 0,
  state: (a, b) => ranks[a.row.state] - ranks[b.row.state],
  owner: (a, b) => compareTexts(a.row.owner, b.row.owner),
  // The column shows for how long: a later start is less.
  since: (a, b) => compareNumbers(startBefore(a), startBefore(b)),
  token: (a, b) => compareTokens(a.row.token, b.row.token),
  validity: (a, b) => compareNumbers(a.validUntil, b.validUntil),
  waiters: (a, b) => (a.row.waiters ?? 0) - (b.row.waiters ?? 0),
}

/** A total order: two entries of different names are never equal, so that a search by halves finds each of them. */
export function comparisonOf({ column, isDescending }: Order, isGrouped: boolean): Comparison {
  const compare = byColumn[column]
  const sign = isDescending ? -1 : 1
  // Under another column, names always go up, so that equal rows stay where the eye left them.
  const nameSign = column === 'name' ? sign : 1
  return (a, b) =>
    (isGrouped ? compareTexts(a.group, b.group) : 0) ||
    sign * compare(a, b) ||
    nameSign * (compareTexts(a.sortName, b.sortName) || compareTexts(a.row.name, b.row.name))
}

function startBefore({ row }: Entry): number | undefined {
  return row.since === undefined ? undefined : -row.since
}

function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Values that are not known come last. The difference of two infinite values is not a number, so nothing is subtracted. */
function compareNumbers(a = Number.MAX_VALUE, b = Number.MAX_VALUE): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/** Tokens are whole numbers that may not fit into a double. */
function compareTokens(a: string, b: string): number {
  return a.length - b.length || compareTexts(a, b)
}
