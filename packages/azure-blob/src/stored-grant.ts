import {
  type Grant,
  isLocked,
  LeaseConfigurationError,
  type LeaseRecord,
  type LeaseState,
  type Metadata,
} from '@leasehold/core'

/** The metadata of a blob or a container at the service: names without case, values in ASCII. */
export type BlobMetadata = Readonly<Record<string, string>>

/** The fields of a record in that metadata, beside the user's own entries. */
const keys = {
  owner: 'leaseholdowner',
  grantId: 'leaseholdgrant',
  fencingToken: 'leaseholdtoken',
  ttl: 'leaseholdttl',
  metadata: 'leaseholdmetadata',
  previous: 'leaseholdprevious',
  name: 'leaseholdname',
  grantedAt: 'leaseholdgranted',
} as const

/** The size limit of the service, for names and values together, in bytes. */
const LONGEST = 8_192

/**
 * The limit for the metadata of a lease, in bytes. It is chosen so that `metadata`, `previous`, and the longest name and
 * owner fit into {@link LONGEST}, whatever their characters.
 */
export const METADATA_ROOM = 1_024

/** The last grant of a name, as written under its lease. */
export interface StoredGrant extends Grant {
  readonly metadata: Metadata
  /** The metadata that the holder found. */
  readonly previous?: Metadata
  /** In milliseconds since 1970, by the service's clock, which has steps of a second. */
  readonly grantedAt?: number
}

/** The grant that {@link withGrant} wrote; `undefined` if there is none. */
export function grantIn(name: string, found: BlobMetadata): StoredGrant | undefined {
  const stored = lowerCased(found)
  const token = stored.get(keys.fencingToken)
  if (token === undefined) return undefined
  try {
    const ttl = stored.get(keys.ttl)
    const previous = stored.get(keys.previous)
    return {
      name,
      owner: unpackText(stored.get(keys.owner) ?? ''),
      grantId: stored.get(keys.grantId) ?? '',
      fencingToken: BigInt(token),
      ttl: ttl === 'infinite' ? Number.POSITIVE_INFINITY : Number(ttl),
      metadata: unpackTexts(stored.get(keys.metadata) ?? ''),
      ...(previous === undefined ? {} : { previous: unpackTexts(previous) }),
      ...grantedAtIn(stored.get(keys.grantedAt), token),
    }
  } catch (cause) {
    throw new LeaseConfigurationError(
      `the metadata under lease '${name}' is not a lease record: remove its entries that start with 'leasehold'`,
      { leaseName: name, store: 'azure-blob', cause },
    )
  }
}

/** The lease name in the metadata; `undefined` if there is none, or it cannot be read. */
export function nameIn(found: BlobMetadata): string | undefined {
  const name = lowerCased(found).get(keys.name)
  try {
    return name === undefined ? undefined : unpackText(name)
  } catch {
    return undefined
  }
}

/**
 * The metadata with this grant in it. A write replaces all metadata, so the user's own entries are kept. Throws a
 * `LeaseConfigurationError` if the result is too long for the service.
 */
export function withGrant(found: BlobMetadata, grant: StoredGrant): Record<string, string> {
  const ours = new Set<string>(Object.values(keys))
  const others = Object.entries(found).filter(([key]) => !ours.has(key.toLowerCase()))
  const entries = {
    [keys.owner]: packText(grant.owner),
    [keys.grantId]: grant.grantId,
    [keys.fencingToken]: String(grant.fencingToken),
    [keys.ttl]: grant.ttl === Number.POSITIVE_INFINITY ? 'infinite' : String(grant.ttl),
    [keys.metadata]: packTexts(grant.metadata),
    [keys.previous]: grant.previous === undefined ? '' : packTexts(grant.previous),
    // The name of the blob or container can be an escaped or shortened form.
    [keys.name]: packText(grant.name),
    // The entry has the token: an earlier version of this package keeps the entry when it writes a grant of its own.
    [keys.grantedAt]: grant.grantedAt === undefined ? '' : `${grant.fencingToken}-${grant.grantedAt}`,
  }
  // The service drops entries without a value.
  const all = [...others, ...Object.entries(entries).filter(([, value]) => value !== '')]
  const length = all.reduce((sum, [key, value]) => sum + key.length + value.length, 0)
  if (length <= LONGEST) return Object.fromEntries(all)
  throw new LeaseConfigurationError(
    `the record of lease '${grant.name}', with the other metadata of its blob or container, has ${length} bytes, but ` +
      `the service has room for ${LONGEST}: shorten the owner or the metadata`,
    { leaseName: grant.name, store: 'azure-blob' },
  )
}

/** Returns a duration in whole seconds, as the service counts, rounded up; -1 for a lease that does not expire. */
export function toSeconds(duration: number): number {
  return duration === Number.POSITIVE_INFINITY ? -1 : Math.ceil(duration / 1_000)
}

/** The lease of a blob or container, as the service tells it to everybody. It does not tell how much time is left. */
export interface LeaseStatus {
  readonly state: LeaseState
  /** Whether it does not expire. */
  readonly infinite: boolean
}

/**
 * The record of a name; state and duration are the service's. `stored` is `undefined` where the lease has no record: another
 * program took it, or the holder has not written the record yet.
 */
export function toRecord(name: string, stored: StoredGrant | undefined, status: LeaseStatus): LeaseRecord | undefined {
  const { state, infinite } = status
  const isEndless = state === 'leased' && infinite
  const lasting: Pick<LeaseRecord, 'duration' | 'remaining'> = {
    ...(isLocked(status) && { duration: infinite ? 'infinite' : 'fixed' }),
    ...(isEndless && { remaining: Number.POSITIVE_INFINITY }),
  }
  if (stored !== undefined) {
    const { previous, ...record } = stored
    return { ...record, ...(isLocked(status) && previous !== undefined ? { previous } : {}), ...lasting, state }
  }
  if (state === 'available') return undefined
  const ttl = isEndless ? { ttl: Number.POSITIVE_INFINITY } : {}
  return { name, owner: '', grantId: '', fencingToken: 0n, metadata: {}, ...ttl, ...lasting, state }
}

/** The time of the grant with this token, if the entry is of that grant. */
function grantedAtIn(entry: string | undefined, token: string): { grantedAt?: number } {
  const [, of, time] = /^(\d+)-(\d+)$/.exec(entry ?? '') ?? []
  return of === token ? { grantedAt: Number(time) } : {}
}

function lowerCased(found: BlobMetadata): ReadonlyMap<string, string> {
  return new Map(Object.entries(found).map(([key, value]) => [key.toLowerCase(), value]))
}

/** The mark of a value in base64url. Percent-encoding, in which older records have all texts, never starts with it. */
const PACKED = '+'

/** Bytes that UTF-8 never contains: the end of a key with a value, and the end of an entry. */
const [KEY_END, ENTRY_END] = [0xfe, 0xff] as const

/** Returns the shorter form. Percent-encoding is readable in the portal; base64url is shorter for other alphabets. */
function packText(text: string): string {
  const readable = encodeURIComponent(text)
  const packed = PACKED + Buffer.from(text).toString('base64url')
  return readable.length <= packed.length ? readable : packed
}

function unpackText(value: string): string {
  return value.startsWith(PACKED) ? bytesIn(value).toString() : decodeURIComponent(value)
}

/** JSON would grow up to eightfold. Lone surrogates have no UTF-8: such texts need JSON all the same. */
function packTexts(texts: Metadata): string {
  const entries = Object.entries(texts)
  if (!entries.flat().every((text) => text.isWellFormed())) return encodeURIComponent(JSON.stringify(texts))
  const parts = entries.flatMap(([key, value]) =>
    value === '' ? [Buffer.from(key), [ENTRY_END]] : [Buffer.from(key), [KEY_END], Buffer.from(value), [ENTRY_END]],
  )
  return PACKED + Buffer.concat(parts.map((part) => Buffer.from(part))).toString('base64url')
}

function unpackTexts(value: string): Metadata {
  if (!value.startsWith(PACKED)) return textsIn(decodeURIComponent(value))
  const bytes = bytesIn(value)
  const entries: [string, string][] = []
  let start = 0
  for (let end = bytes.indexOf(ENTRY_END); end !== -1; end = bytes.indexOf(ENTRY_END, start)) {
    const entry = bytes.subarray(start, end)
    const keyEnd = entry.indexOf(KEY_END)
    const key = keyEnd === -1 ? entry : entry.subarray(0, keyEnd)
    entries.push([key.toString(), keyEnd === -1 ? '' : entry.subarray(keyEnd + 1).toString()])
    start = end + 1
  }
  return Object.fromEntries(entries)
}

function bytesIn(value: string): Buffer {
  return Buffer.from(value.slice(PACKED.length), 'base64url')
}

function textsIn(json: string): Metadata {
  const value: unknown = json === '' ? {} : JSON.parse(json)
  if (typeof value === 'object' && value !== null && Object.values(value).every((text) => typeof text === 'string')) {
    return value as Record<string, string>
  }
  throw new TypeError('the metadata of a lease must be texts')
}
