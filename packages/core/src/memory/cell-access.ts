import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import type { LeaseError } from '../errors/lease-error.js'
import { LeaseLostError } from '../errors/lease-lost-error.js'
import { refusalOf, type StoredLease, stateAt } from '../store/life-cycle/stored-lease.js'

/** The use of a resource that is under a lease. */
export type CellAccess = 'read' | 'write'

/**
 * The error with which a resource refuses an access at the instant `now`, by the table of a Lease Blob's uses. A
 * `LeaseConflictError` where the blob answers 409: a lease with another id is in force. A `LeaseLostError` where it
 * answers 412: the condition of the access is not met.
 */
export function accessRefusal(
  name: string,
  lease: StoredLease | undefined,
  now: number,
  access: CellAccess,
  leaseId: string | undefined,
): LeaseError | undefined {
  const details = { leaseName: name, store: 'memory' }
  const lost = (why: string): LeaseLostError =>
    new LeaseLostError(`${access} of '${name}' is refused: ${why}`, { ...details, reason: refusalOf(lease, leaseId) })
  const state = lease === undefined ? 'available' : stateAt(lease, now)
  const isLocked = state === 'leased' || state === 'breaking'
  if (leaseId === undefined) {
    return isLocked && access === 'write' ? lost('it is under a lease, give its id') : undefined
  }
  if (isLocked && lease?.grantId === leaseId) return undefined
  // In the table, a write with another id is a conflict until the lease is being broken, and then a lost condition.
  const conflicts = state === 'leased' || (state === 'breaking' && access === 'read')
  if (!conflicts) return lost('the lease with this id is not in force')
  return new LeaseConflictError(`${access} of '${name}' is refused: the lease in force has another id`, details)
}
