import { expect } from 'vitest'

/** Outcomes of lease operations, as the Lease Blob reference has them; the columns are the states. */
export const LEASE_TABLE = `
  action                   | available  | leased (A)   | breaking (A) | broken (A) | expired (A)
  acquire, no proposed id  | leased (X) | 409          | 409          | leased (X) | leased (X)
  acquire (A)              | leased (A) | leased (A)   | 409          | leased (A) | leased (A)
  acquire (B)              | leased (B) | 409          | 409          | leased (B) | leased (B)
  break, period = 0        | 409        | broken (A)   | broken (A)   | broken (A) | broken (A)
  break, period > 0        | 409        | breaking (A) | breaking (A) | broken (A) | broken (A)
  break, no period         | 409        | breaking (A) | breaking (A) | broken (A) | broken (A)
  change (A) to (B)        | 409        | leased (B)   | 409          | 409        | 409
  change (B) to (A)        | 409        | leased (A)   | 409          | 409        | 409
  change (B) to (C)        | 409        | 409          | 409          | 409        | 409
  renew (A)                | 409        | leased (A)   | 409          | 409        | leased (A)
  renew (B)                | 409        | 409          | 409          | 409        | 409
  release (A)              | 409        | available    | available    | available  | available
  release (B)              | 409        | 409          | 409          | 409        | 409
  duration expires         | available  | expired (A)  | broken (A)   | broken (A) | expired (A)
`

/** Outcomes of use of the blob, as the Lease Blob reference has them; the columns are the states. */
export const USE_TABLE = `
  action             | available | leased (A) | breaking (A) | broken (A) | expired (A)
  write with (A)     | 412       | leased (A) | breaking (A) | 412        | 412
  write with (B)     | 412       | 409        | 412          | 412        | 412
  write, no lease id | available | 412        | 412          | available  | available
  read with (A)      | 412       | leased (A) | breaking (A) | 412        | 412
  read with (B)      | 412       | 409        | 409          | 412        | 412
  read, no lease id  | available | leased (A) | breaking (A) | broken (A) | expired (A)
`

/** The columns of both tables; a lease can be available because it never was leased, or because it was released. */
const COLUMNS = ['available', 'available, released', 'leased (A)', 'breaking (A)', 'broken (A)', 'expired (A)'] as const

export type Column = (typeof COLUMNS)[number]

export interface Cell<Action> {
  readonly action: string
  readonly act: Action
  readonly column: Column
  readonly expected: string
}

/**
 * The cells of a table written as in the reference: an action a line and then five columns, of which the first stands
 * for both ways of being available.
 */
export function cellsOf<Action>(table: string, actions: ReadonlyMap<string, Action>): readonly Cell<Action>[] {
  const [header, ...rows] = table.trim().split('\n').map(rowOf)
  expect(header).toEqual(['action', ...COLUMNS.filter((column) => column !== 'available, released')])
  const names = rows.map(([action]) => action)
  expect(names).toEqual([...actions.keys()])
  return rows.flatMap(([action = '', available = '', ...others]) => {
    const act = actions.get(action)
    const outcomes = [available, available, ...others]
    if (act === undefined || outcomes.length !== COLUMNS.length) throw new Error(`the row '${action}' is not complete`)
    return COLUMNS.map((column, place) => ({ action, act, column, expected: outcomes[place] ?? '' }))
  })
}

function rowOf(line: string): readonly string[] {
  return line.split('|').map((cell) => cell.trim())
}
