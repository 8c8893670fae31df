import { LeaseRecord, type LeaseState } from '@leasehold/core'
import { durationText, instantText } from './duration-text.js'
import type { Cell, Colour } from './table.js'

/** The columns of `status` and `list`. */
export const leaseTitles = ['NAME', 'STATE', 'HOLDER', 'SINCE', 'TOKEN', 'REMAINING', 'WAITERS'] as const

const colours: Readonly<Record<LeaseState, Colour>> = {
  leased: 'green',
  breaking: 'yellow',
  broken: 'red',
  expired: 'red',
  available: 'dim',
}

/** Of a name that is free, the last holder is no holder. */
export function leaseRow(name: string, record: LeaseRecord | undefined): readonly Cell[] {
  if (record === undefined) return [name, ['none', 'dim'], '-', '-', '-', '-', '-']
  const { state, owner, grantedAt, fencingToken, remaining, waiters } = record
  const isLocked = isHeld(record)
  return [
    name,
    [state, colours[state]],
    isLocked ? owner || 'unknown' : '-',
    isLocked && grantedAt !== undefined ? instantText(grantedAt) : '-',
    String(fencingToken),
    isLocked && remaining !== undefined ? durationText(remaining) : '-',
    waiters === undefined ? '-' : String(waiters),
  ]
}

/** The record as JSON; of a name without a record, its name and the state `none`. */
export function leaseJSON(name: string, record: LeaseRecord | undefined): Readonly<Record<string, unknown>> {
  return record === undefined ? { name, state: 'none' } : LeaseRecord.toJSON(record)
}

export function isHeld({ state }: LeaseRecord): boolean {
  return state === 'leased' || state === 'breaking'
}
