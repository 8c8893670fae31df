import { type Clock, isLocked } from '@leasehold/core'
import type { BreakOptions, StoreCall } from '@leasehold/core/store'
import { anotherGrant, isSettled, nothingToBreak, settling } from '@leasehold/core/store-kit'
import { type AzureBlobConditions, requireMet } from './conditions.js'
import type { Found, LeaseResource } from './lease-resource.js'
import { isLeaseConflict, isStatus } from './service-answer.js'
import { grantIn, type StoredGrant, toSeconds, withGrant } from './stored-grant.js'

interface Breaking extends BreakOptions {
  readonly name: string
  readonly conditions?: AzureBlobConditions | undefined
  /** The period for a lease that expires, if no period is given, in milliseconds. */
  readonly longest: number
  readonly clock: Clock
}

const KIND = 'azure-blob'

/** Breaks the lease on a blob or container. Resolves with `undefined` if another writer was faster. */
export async function breakIn(
  resource: LeaseResource,
  breaking: Breaking,
  call: StoreCall,
): Promise<{ readonly remaining: number } | undefined> {
  const { name, period, grantId, conditions, longest, clock } = breaking
  const { signal } = call
  const isConditional = grantId !== undefined || conditions !== undefined
  const found = grantId === undefined ? await resource.find(signal) : await resource.findUnder(grantId, signal)
  if (grantId !== undefined && found === undefined) throw anotherGrant(name, KIND)
  if (found === undefined || found.state === 'available') throw nothingToBreak(name, KIND)
  const stored = grantIn(name, found.metadata)
  // For a container, the condition on the lease id is not checked everywhere.
  if (grantId !== undefined && stored !== undefined && stored.grantId !== grantId) throw anotherGrant(name, KIND)
  if (conditions !== undefined) {
    requireMet(name, conditions, found)
    if (resource.kind === 'container' && !isSettled(found)) {
      // Another write of the same second would have the same time.
      await settling(clock, call)
      return undefined
    }
  }
  const reasoned = await writeReason(resource, found, stored, breaking, signal)
  if (conditions !== undefined && reasoned.isOvertaken) return undefined
  const client = resource.leaseClient(stored?.grantId ?? '')
  try {
    const { leaseTime = 0 } = await client.breakLease(toSeconds(period ?? (found.infinite ? 0 : longest)), {
      abortSignal: signal,
      ...(isConditional && { conditions: reasoned.unwritten ?? resource.unwritten(found) }),
    })
    return { remaining: leaseTime * 1_000 }
  } catch (error) {
    if (isConditional && isStatus(error, 412)) return undefined
    if (isLeaseConflict(error) || isStatus(error, 404)) throw nothingToBreak(name, KIND)
    throw error
  }
}

/** The record after the write of the reason. */
interface Reasoned {
  /** Present if the reason was written: the condition that nothing was written since. */
  readonly unwritten?: { readonly ifMatch?: string }
  /** Whether another writer was faster. */
  readonly isOvertaken: boolean
}

/** Writes the reason into the record, for information only. */
async function writeReason(
  resource: LeaseResource,
  found: Found,
  stored: StoredGrant | undefined,
  { reason }: Pick<Breaking, 'reason'>,
  signal: AbortSignal,
): Promise<Reasoned> {
  if (reason === undefined || stored === undefined || !isLocked(found)) return { isOvertaken: false }
  const record = { ...stored, metadata: { ...stored.metadata, breakReason: reason } }
  const written = await resource.write(withGrant(found.metadata, record), stored.grantId, found, signal)
  const etag = resource.kind === 'blob' ? written?.etag : undefined
  // The time of a container is now that of this write, so it says nothing about other writes.
  return { unwritten: etag === undefined ? {} : { ifMatch: etag }, isOvertaken: written === undefined }
}
