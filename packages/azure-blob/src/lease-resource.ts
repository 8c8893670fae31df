import type { BlobLeaseClient } from '@azure/storage-blob'
import type { LeaseState } from '@leasehold/core'
import { isStatus } from './service-answer.js'
import type { BlobMetadata } from './stored-grant.js'
import type { WriteStamp } from './write-time.js'

/** The state of a blob or a container in an answer of the service. */
export interface Found extends WriteStamp {
  readonly state: LeaseState
  readonly infinite: boolean
  readonly metadata: BlobMetadata
  readonly etag: string
  /** The last write of content or metadata, by the service's clock, in whole seconds. Lease operations do not count. */
  readonly lastModified: Date
}

export interface Written {
  readonly etag?: string
}

/** The blob or the container of a lease name. Its methods reject with the errors of the SDK. */
export interface LeaseResource {
  /** For messages. */
  readonly kind: 'blob' | 'container'
  find(signal: AbortSignal): Promise<Found | undefined>
  /** Creates it; `undefined` if it was created by another process meanwhile. */
  make(signal: AbortSignal): Promise<Found | undefined>
  leaseClient(grantId: string): BlobLeaseClient
  /** Whether the lease in force is that of the grant. */
  isLeasedUnder(grantId: string, signal: AbortSignal): Promise<boolean>
  /** The condition under which a lease is taken only if nothing was written since. */
  unwritten(found: Found): { ifMatch: string } | { ifUnmodifiedSince: Date }
  /** Whether that condition cannot tell apart the writes of one second, so that the second has to be over. */
  readonly needsSettled: boolean
  /** Replaces the metadata under the lease; the service answers 412 if something was written since. */
  writeMetadata(metadata: Record<string, string>, grantId: string, found: Found, signal: AbortSignal): Promise<Written>
}

/** The common fields of answers about blobs and containers. */
export interface LeaseProperties {
  readonly leaseState?: LeaseState
  readonly leaseDuration?: 'finite' | 'fixed' | 'infinite'
  readonly metadata?: BlobMetadata
  readonly etag?: string
  readonly lastModified?: Date
  readonly date?: Date
}

export function toFound(properties: LeaseProperties): Found {
  const { leaseState = 'available', leaseDuration, metadata = {}, etag = '', lastModified, date } = properties
  if (lastModified === undefined || date === undefined) throw new TypeError('the answer of the service has no time')
  return {
    state: leaseState,
    infinite: leaseDuration === 'infinite',
    metadata,
    etag,
    lastModified,
    date,
  }
}

/** Whether a lease is in force. */
export function isLocked({ state }: Found): boolean {
  return state === 'leased' || state === 'breaking'
}

/** Writes the record under its lease, if nothing was written since `found`; `undefined` if another writer was faster. */
export async function writeRecord(
  resource: LeaseResource,
  found: Found,
  grantId: string,
  record: Record<string, string>,
  signal: AbortSignal,
): Promise<Written | undefined> {
  try {
    return await resource.writeMetadata(record, grantId, found, signal)
  } catch (error) {
    if (isStatus(error, 412) || isStatus(error, 404)) return undefined
    throw error
  }
}
