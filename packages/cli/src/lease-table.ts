import { isLocked, LeaseRecord, type LeaseState } from '@leasehold/core'
import { durationText, instantText } from './duration-text.js'
import { type Cell, type Colour, writeTable } from './table.js'
import { type Terminal, writeJSON } from './terminal.js'

const titles = ['NAME', 'STATE', 'HOLDER', 'SINCE', 'TOKEN', 'REMAINING', 'WAITERS'] as const

const colours: Readonly<Record<LeaseState, Colour>> = {
  leased: 'green',
  breaking: 'yellow',
  broken: 'red',
  expired: 'red',
  available: 'dim',
}

/** Writes the records of names: what `status` and `list` show. `undefined`: a name has no record. */
export function writeLeases(
  terminal: Terminal,
  output: 'table' | 'json' | undefined,
  leases: readonly (readonly [name: string, record: LeaseRecord | undefined])[],
): void {
  const records = leases.map((lease) => leaseJSON(...lease))
  const rows = leases.map((lease) => leaseRow(...lease))
  if (output === 'json') writeJSON(terminal, records)
  else writeTable(terminal, titles, rows)
}

/** A free name has no holder: the record still names the last one. */
function leaseRow(name: string, record: LeaseRecord | undefined): readonly Cell[] {
  if (record === undefined) return [name, ['none', 'dim'], '-', '-', '-', '-', '-']
  const { state, owner, grantedAt, fencingToken, remaining, waiters } = record
  const locked = isLocked(record)
  return [
    name,
    [state, colours[state]],
    locked ? owner || 'unknown' : '-',
    locked && grantedAt !== undefined ? instantText(grantedAt) : '-',
    String(fencingToken),
    locked && remaining !== undefined ? durationText(remaining) : '-',
    waiters === undefined ? '-' : String(waiters),
  ]
}

/** Returns the record as JSON; for a name without a record, its name and the state `none`. */
export function leaseJSON(name: string, record: LeaseRecord | undefined): Readonly<Record<string, unknown>> {
  return record === undefined ? { name, state: 'none' } : LeaseRecord.toJSON(record)
}
