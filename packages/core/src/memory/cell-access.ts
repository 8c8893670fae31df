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
  const state = lease === undefined ? 'available' : stateAt(lease, now)
  const isLocked = state === 'leased' || state === 'breaking'
  if (leaseId === undefined) return isLocked && access === 'write' ? lost(name, lease, access, leaseId) : undefined
  const isHolder = lease?.grantId === leaseId
  if (isLocked && isHolder) return undefined
  // In the table, a write with another id is a conflict until the lease is being broken, and then a lost condition.
  const conflicts = state === 'leased' || (state === 'breaking' && access === 'read')
  return conflicts ? conflict(name, access) : lost(name, lease, access, leaseId)
}

function conflict(name: string, access: CellAccess): LeaseConflictError {
  return new LeaseConflictError(`${access} of '${name}' is refused: the lease in force has another id`, {
    leaseName: name,
    store: 'memory',
  })
}

function lost(
  name: string,
  lease: StoredLease | undefined,
  access: CellAccess,
  leaseId: string | undefined,
): LeaseLostError {
  const why = leaseId === undefined ? 'it is under a lease, give its id' : 'the lease with this id is not in force'
  return new LeaseLostError(`${access} of '${name}' is refused: ${why}`, {
    leaseName: name,
    store: 'memory',
    reason: refusalOf(lease, leaseId),
  })
}
