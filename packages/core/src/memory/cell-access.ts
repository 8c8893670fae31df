import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import type { LeaseError } from '../errors/lease-error.js'
import { LeaseLostError } from '../errors/lease-lost-error.js'
import { endOf, type MemoryRecord } from './memory-record.js'

/** What is wanted of a resource that is under a lease. */
export type CellAccess = 'read' | 'write'

/**
 * Why a resource refuses an access: the table of a Lease Blob's uses. A `LeaseConflictError` where the blob answers
 * 409: another id's lease is in force. A `LeaseLostError` where it answers 412: the condition that the access was made
 * under does not hold (any more).
 */
export function accessRefusal(
  name: string,
  record: MemoryRecord | undefined,
  access: CellAccess,
  leaseId: string | undefined,
): LeaseError | undefined {
  const state = record?.state ?? 'available'
  const isLocked = state === 'leased' || state === 'breaking'
  if (leaseId === undefined) return isLocked && access === 'write' ? lost(name, record, access, leaseId) : undefined
  const isHolder = record?.grant.grantId === leaseId
  if (isLocked && isHolder) return undefined
  // A write under another id is a conflict only until the lease is being broken: so the table has it.
  const conflicts = state === 'leased' || (state === 'breaking' && access === 'read')
  return conflicts ? conflict(name, access) : lost(name, record, access, leaseId)
}

function conflict(name: string, access: CellAccess): LeaseConflictError {
  return new LeaseConflictError(`${access} of '${name}' is refused: the lease in force has another id`, {
    leaseName: name,
    store: 'memory',
  })
}

function lost(
  name: string,
  record: MemoryRecord | undefined,
  access: CellAccess,
  leaseId: string | undefined,
): LeaseLostError {
  const why = leaseId === undefined ? 'it is under a lease, give its id' : 'the lease with this id is not in force'
  return new LeaseLostError(`${access} of '${name}' is refused: ${why}`, {
    leaseName: name,
    store: 'memory',
    reason: endOf(record, leaseId),
  })
}
