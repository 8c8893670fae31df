import { misconfigured } from '../mysql-options.js'
import { bytesLiteral, columnName, textLiteral } from '../sql-text.js'
import type { SqlNames } from '../table-names.js'
import { HELD } from './operations.js'

/** The longest text that the column of resources takes, in bytes. */
export const LONGEST_RESOURCE = 1_024

/**
 * One row if the lease is held under the token by now. It locks the index entry of the grant, and no row: a new grant changes
 * that entry, and has to wait; a renewal or a release does not. The inner query locks nothing, and its limit keeps it one of
 * its own. Where it finds no lease, nothing is locked: not the place in the index either, where first grants of other names go.
 */
export function guardStatement({ leases }: SqlNames, name: string, token: bigint): string {
  const held = `(select s.granted_at, s.name, s.grant_id from ${leases} s where s.name = ${bytesLiteral(name)} and s.fencing_token = ${token} and s.${HELD} limit 1)`
  return `select '1' as answer from ${held} h straight_join ${leases} l force index (lease_grant) on l.granted_at = h.granted_at and l.name = h.name and l.grant_id = h.grant_id lock in share mode`
}

/** Keeps the larger token, and locks its row; then reads it, as it is by now. */
export function fenceStatements({ fences }: SqlNames, resource: string, token: bigint) {
  const key = bytesLiteral(resource)
  return {
    write: `insert into ${fences} (resource, fencing_token) values (${key}, ${token}) on duplicate key update fencing_token = greatest(fencing_token, ${token})`,
    read: `select concat(fencing_token) as answer from ${fences} where resource = ${key} for update`,
  }
}

/** Locks the rows of a user's table, and reads how many there are and their largest token; then raises it. */
export function rowsStatements(
  table: string,
  column: string,
  where: Readonly<Record<string, string | number | bigint | boolean | null>>,
  token: bigint,
) {
  const name = '(`[^`]+`|[A-Za-z_][\\w$]*)'
  if (!new RegExp(`^${name}(\\.${name})?$`).test(table)) {
    throw misconfigured(`the table must be written as in SQL, such as accounts or billing.accounts; not ${table}`)
  }
  const rows = Object.entries(where)
    .map(([key, value]) => (value === null ? `${columnName(key)} is null` : `${columnName(key)} = ${literal(value)}`))
    .join(' and ')
  const fenced = columnName(column)
  return {
    read: `select concat_ws(',', count(*), max(${fenced})) as answer from ${table} where ${rows} for update`,
    write: `update ${table} set ${fenced} = ${token} where ${rows}`,
  }
}

function literal(value: string | number | bigint | boolean): string {
  if (typeof value === 'string') return textLiteral(value)
  if (typeof value === 'number' && !Number.isFinite(value))
    throw misconfigured(`a value of where must be finite, not ${value}`)
  return String(value)
}
