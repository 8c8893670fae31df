import type { LeaseOperationOptions } from '@azure/storage-blob'
import { type Clock, LeaseConfigurationError, LeaseConflictError } from '@leasehold/core'
import type { LeaseErrorDetails, StoreCall } from '@leasehold/core/store'
import { checkOptionNames, isSettled, type OptionNames, SECOND, settling } from '@leasehold/core/store-kit'
import type { Found, LeaseResource } from './lease-resource.js'

/**
 * The conditions of the service under which an operation on a lease has an effect, as the SDK names them. All that are given
 * have to be met. They are about the blob, or the container, that the lease is on. The operations of leases themselves change
 * neither its ETag nor its time; a record in its metadata changes both.
 */
export interface AzureBlobConditions {
  /** The blob or container has this ETag: nothing was written since. */
  readonly ifMatch?: string | undefined
  /** The blob or container has another ETag than this. */
  readonly ifNoneMatch?: string | undefined
  /** It was written after this time, by the service's clock, in whole seconds. */
  readonly ifModifiedSince?: Date | undefined
  /** It was not written after this time, by the service's clock, in whole seconds. */
  readonly ifUnmodifiedSince?: Date | undefined
}

const names: OptionNames<AzureBlobConditions> = {
  ifMatch: true,
  ifNoneMatch: true,
  ifModifiedSince: true,
  ifUnmodifiedSince: true,
}

/** Throws a `LeaseConfigurationError` if a condition is not valid, or unknown. */
export function checkConditions(conditions: AzureBlobConditions | undefined, of: LeaseErrorDetails): void {
  if (conditions === undefined) return
  const details = { ...of, store: 'azure-blob' }
  if (typeof conditions !== 'object' || conditions === null) {
    throw new LeaseConfigurationError('conditions must be an object, such as { ifMatch: etag }', details)
  }
  checkOptionNames('conditions', conditions, names, details)
  const { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince } = conditions
  for (const [name, etag] of Object.entries({ ifMatch, ifNoneMatch })) {
    if (etag === undefined || (typeof etag === 'string' && etag !== '')) continue
    throw new LeaseConfigurationError(`${name} must be a text, such as an ETag`, details)
  }
  for (const [name, time] of Object.entries({ ifModifiedSince, ifUnmodifiedSince })) {
    if (time === undefined || (time instanceof Date && !Number.isNaN(time.getTime()))) continue
    throw new LeaseConfigurationError(`${name} must be a valid Date`, details)
  }
}

/**
 * The options of a request that has an effect only if the conditions are met. The service compares no ETags of containers,
 * and accepts few combinations of conditions. Therefore this function compares the conditions with the state that it finds,
 * and makes the request conditional on that state. Resolves with `undefined` if the caller has to look again. Rejects with
 * a `LeaseConflictError` if a condition is not met.
 */
export async function conditionalOn(
  resource: LeaseResource,
  leaseName: string,
  conditions: AzureBlobConditions | undefined,
  clock: Clock,
  call: StoreCall,
): Promise<LeaseOperationOptions | undefined> {
  const abortSignal = call.signal
  const found = conditions && (await resource.find(abortSignal))
  // If the blob or the container is missing, the service rejects the request itself.
  if (conditions === undefined || found === undefined) return { abortSignal }
  requireMet(leaseName, conditions, found)
  if (resource.kind === 'blob' || isSettled(found)) return { abortSignal, conditions: resource.unwritten(found) }
  // Another write of the same second would have the same time.
  await settling(clock, call)
  return undefined
}

/** Throws a `LeaseConflictError` if a condition is not met by what was found. */
export function requireMet(leaseName: string, conditions: AzureBlobConditions, found: Found): void {
  const fault = faultOf(conditions, found)
  if (fault === undefined) return
  throw new LeaseConflictError(`the blob or container of lease '${leaseName}' ${fault}`, {
    leaseName,
    store: 'azure-blob',
  })
}

function faultOf(
  { ifMatch, ifNoneMatch, ifModifiedSince, ifUnmodifiedSince }: AzureBlobConditions,
  { etag, lastModified }: Found,
): string | undefined {
  if (ifMatch !== undefined && ifMatch !== ANY && ifMatch !== etag)
    return `has changed since version ${ifMatch}: read it, and try again with its new ETag`
  if (ifNoneMatch !== undefined && (ifNoneMatch === ANY || ifNoneMatch === etag))
    return `still has the version ${ifNoneMatch}, which ifNoneMatch excludes: try again when it was written`
  if (ifModifiedSince !== undefined && lastModified.getTime() <= wholeSecond(ifModifiedSince))
    return `was not written after ${ifModifiedSince.toUTCString()}: try again when it was written`
  if (ifUnmodifiedSince !== undefined && lastModified.getTime() > wholeSecond(ifUnmodifiedSince))
    return `was written after ${ifUnmodifiedSince.toUTCString()}: read it, and try again with its new time`
  return undefined
}

/** In a condition: every ETag. */
const ANY = '*'

/** Both times are the service's, in whole seconds, as in the headers. */
function wholeSecond(time: Date): number {
  return Math.floor(time.getTime() / SECOND) * SECOND
}
