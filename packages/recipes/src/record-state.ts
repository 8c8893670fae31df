import type { LeaseRecord, LeaseState } from '@leasehold/core'

const locked: Readonly<Record<LeaseState, boolean>> = {
  leased: true,
  breaking: true,
  expired: false,
  broken: false,
  available: false,
}

/** Whether the name of a record is locked: by a holder, or after a break. */
export function isLocked(record: LeaseRecord | undefined): boolean {
  return record !== undefined && locked[record.state] === true
}

/** Whether a value is a state of a record: the client of a user may answer with anything. */
export function isState(value: unknown): value is LeaseState {
  return typeof value === 'string' && Object.hasOwn(locked, value)
}
