import type { BlobLeaseClient } from '@azure/storage-blob'
import type { LeaseState } from '@leasehold/core'
import type { Metadata } from './stored-grant.js'
import type { WriteStamp } from './write-time.js'

/** What the service has for a name, when it was asked. */
export interface Found extends WriteStamp {
  readonly state: LeaseState
  readonly infinite: boolean
  readonly metadata: Metadata
  readonly etag: string
  /** When its content or metadata were written last, by the service's clock, in whole seconds. Leasing writes nothing. */
  readonly lastModified: Date
}

/** What the service answers to a write. */
export interface Written {
  readonly etag?: string
}

/** What stands for a lease name at the service, a blob or a container. Calls reject with the errors of the SDK. */
export interface LeaseResource {
  /** For messages. */
  readonly kind: 'blob' | 'container'
  find(signal: AbortSignal): Promise<Found | undefined>
  /** Makes what is missing; `undefined`: somebody else has, at the same time. */
  make(signal: AbortSignal): Promise<Found | undefined>
  leaseClient(grantId: string): BlobLeaseClient
  /** Whether the lease in force is that of the grant. */
  isLeasedUnder(grantId: string, signal: AbortSignal): Promise<boolean>
  /** Under which condition a lease is only taken if nothing was written since. */
  unwritten(found: Found): { ifMatch: string } | { ifUnmodifiedSince: Date }
  /** Whether that condition takes all writes of one second for one, so that the second has to be over. */
  readonly needsSettled: boolean
  /** Replaces the metadata, under the lease, if nothing was written since; else the service answers 412. */
  writeMetadata(metadata: Record<string, string>, grantId: string, found: Found, signal: AbortSignal): Promise<Written>
}

/** What the answers about blobs and containers have in common. */
export interface LeaseProperties {
  readonly leaseState?: LeaseState
  readonly leaseDuration?: 'finite' | 'fixed' | 'infinite'
  readonly metadata?: Metadata
  readonly etag?: string
  readonly lastModified?: Date
  readonly date?: Date
}

export function toFound(properties: LeaseProperties): Found {
  const { leaseState = 'available', leaseDuration, metadata = {}, etag = '', lastModified, date } = properties
  if (lastModified === undefined || date === undefined) throw new TypeError('the service did not tell the time')
  return {
    state: leaseState,
    infinite: leaseDuration === 'infinite',
    metadata,
    etag,
    lastModified,
    date,
  }
}

/** Whether a lease is in force, whoever holds it. */
export function isLocked({ state }: Found): boolean {
  return state === 'leased' || state === 'breaking'
}
