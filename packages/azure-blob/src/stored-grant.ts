import { type Grant, LeaseConfigurationError, type LeaseRecord, type LeaseState } from '@leasehold/core'

/** The metadata of a blob or a container, as the service has it: names without case, values of plain ASCII. */
export type Metadata = Readonly<Record<string, string>>

/** What the metadata keeps of the last grant, beside what is there of its user. */
const keys = {
  owner: 'leaseholdowner',
  grantId: 'leaseholdgrant',
  fencingToken: 'leaseholdtoken',
  ttl: 'leaseholdttl',
  metadata: 'leaseholdmetadata',
} as const

/** The last grant of a name, as it was written under its lease. */
export interface StoredGrant extends Grant {
  readonly metadata: Readonly<Record<string, string>>
}

/** What is read back of {@link withGrant}; `undefined` where there is no grant in it. */
export function grantIn(name: string, found: Metadata): StoredGrant | undefined {
  const stored = new Map(Object.entries(found).map(([key, value]) => [key.toLowerCase(), value]))
  const token = stored.get(keys.fencingToken)
  if (token === undefined) return undefined
  try {
    const ttl = stored.get(keys.ttl)
    return {
      name,
      owner: decodeURIComponent(stored.get(keys.owner) ?? ''),
      grantId: stored.get(keys.grantId) ?? '',
      fencingToken: BigInt(token),
      ttl: ttl === 'infinite' ? Number.POSITIVE_INFINITY : Number(ttl),
      metadata: parseTexts(decodeURIComponent(stored.get(keys.metadata) ?? '')),
    }
  } catch (cause) {
    throw new LeaseConfigurationError(
      `the metadata under lease '${name}' is no lease record: remove its entries that begin with 'leasehold'`,
      { leaseName: name, store: 'azure-blob', cause },
    )
  }
}

/** What the service takes, names and values together, in bytes. */
const LONGEST = 8_192

/**
 * The metadata with this grant in it. All that is not ours is kept, for a write replaces all of it. Throws a
 * `LeaseConfigurationError` where that is more than the service takes.
 */
export function withGrant(found: Metadata, grant: StoredGrant): Record<string, string> {
  const ours = new Set<string>(Object.values(keys))
  const others = Object.entries(found).filter(([key]) => !ours.has(key.toLowerCase()))
  const entries = {
    [keys.owner]: encodeURIComponent(grant.owner),
    [keys.grantId]: grant.grantId,
    [keys.fencingToken]: String(grant.fencingToken),
    [keys.ttl]: grant.ttl === Number.POSITIVE_INFINITY ? 'infinite' : String(grant.ttl),
    [keys.metadata]: encodeURIComponent(JSON.stringify(grant.metadata)),
  }
  // What is empty, as the owner of a free name, cannot be told from what is missing.
  const all = [...others, ...Object.entries(entries).filter(([, value]) => value !== '')]
  const length = all.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  if (length <= LONGEST) return Object.fromEntries(all)
  throw new LeaseConfigurationError(
    `owner and metadata of lease '${grant.name}' take ${length} bytes as metadata of the service, which holds ` +
      `${LONGEST}: shorten them`,
    { leaseName: grant.name, store: 'azure-blob' },
  )
}

export function toGrant({ name, owner, grantId, fencingToken, ttl }: StoredGrant): Grant {
  return { name, owner, grantId, fencingToken, ttl }
}

/**
 * The record of a name: the state is the service's. A lease of somebody who writes no record, or has not yet written it,
 * or whose record was written over, has no owner that could be told.
 */
export function toRecord(name: string, stored: StoredGrant | undefined, state: LeaseState): LeaseRecord | undefined {
  if (stored !== undefined) return { ...stored, state }
  if (state === 'available') return undefined
  return { name, owner: '', grantId: '', fencingToken: 0n, ttl: Number.NaN, metadata: {}, state }
}

function parseTexts(json: string): Readonly<Record<string, string>> {
  const value: unknown = json === '' ? {} : JSON.parse(json)
  if (typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string')) {
    return value as Record<string, string>
  }
  throw new TypeError('the metadata of a lease must be texts')
}
