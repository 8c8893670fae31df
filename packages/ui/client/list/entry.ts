import type { LeaseRow } from '../../src/protocol.js'

/** A row as the page keeps it: never changed, but replaced. */
export interface Entry {
  readonly row: LeaseRow
  /** When its validity ends, on the clock of the page; `Infinity` without an end, `undefined` where the server does not know. */
  readonly validUntil: number | undefined
  /** The name in a form in which comparing puts `job-9` before `job-10`. */
  readonly sortName: string
  /** The text that the filter searches. */
  readonly searched: string
  /** The first part of the name up to a slash, with it; empty if there is none. */
  readonly group: string
}

/** `now`: when the row came, on the clock of the page. */
export function createEntry(row: LeaseRow, now: number): Entry {
  const slash = row.name.indexOf('/')
  return {
    row,
    validUntil: endOf(row.remaining, now),
    sortName: naturalOrder(row.name),
    searched: `${row.name}\n${row.owner}\n${row.recipe?.kind ?? ''}`.toLowerCase(),
    group: slash > 0 ? row.name.slice(0, slash + 1) : '',
  }
}

export function renewEntry(entry: Entry, remaining: number, now: number): Entry {
  return { ...entry, validUntil: now + remaining }
}

function endOf(remaining: number | null | undefined, now: number): number | undefined {
  if (remaining === undefined) return undefined
  return remaining === null ? Number.POSITIVE_INFINITY : now + remaining
}

/** All numbers get the same number of digits, so that plain comparison orders them: a collator is ten times slower. */
function naturalOrder(name: string): string {
  return name.toLowerCase().replace(/\d+/g, (digits) => digits.padStart(20, '0'))
}
