import { LeaseConfigurationError } from '@leasehold/core'
import type { CasRecord } from '@leasehold/core/store'
import { parsedJSON } from '@leasehold/core/store-kit'
import { type BlobMetadata, grantIn, withGrant } from '../stored-grant.js'

/** The fields of a `CasRecord` that a grant does not have. */
const REVISION = 'leaseholdrevision'
const BREAK_PERIOD = 'leaseholdbreak'

/** The record in the metadata of a blob; `undefined` if Akka wrote the blob, because that removes all metadata. */
export function recordBeside(name: string, owner: string, metadata: BlobMetadata): CasRecord | undefined {
  const stored = grantIn(name, metadata)
  if (stored === undefined) return undefined
  const { name: _, owner: __, ...fields } = stored
  const { [REVISION]: revision, [BREAK_PERIOD]: breakPeriod } = metadata
  const record = { ...fields, owner, revision: Number(revision) }
  return breakPeriod === undefined ? record : { ...record, breakPeriod: Number(breakPeriod) }
}

/** Returns the metadata for a record; empty before the first grant, whose token is known only after the blob is created. */
export function toMetadata(name: string, record: CasRecord): Record<string, string> {
  const { revision, breakPeriod, fencingToken } = record
  if (fencingToken === 0n) return {}
  const entries = { ...withGrant({}, { ...record, owner: '', name }), [REVISION]: String(revision) }
  return breakPeriod === undefined ? entries : { ...entries, [BREAK_PERIOD]: String(breakPeriod) }
}

/** The text of an Akka lease: its owner, empty if free, and the time of the last heartbeat, in milliseconds since 1970. */
export function toAkkaBody(owner: string, time: number): string {
  // Seven digits and an offset, as .NET writes a `DateTimeOffset`.
  return JSON.stringify({ Owner: owner, Time: `${new Date(time).toISOString().slice(0, -1)}0000+00:00` })
}

/** The owner in the text. The time is not used: it is from another machine's clock. */
export function ownerIn(leaseName: string, body: string): string {
  const found = parsedJSON(body)
  if (typeof found === 'object' && found !== null && 'Owner' in found) {
    // .NET writes a missing string as null.
    if (typeof found.Owner === 'string' || found.Owner === null) return found.Owner ?? ''
  }
  throw new LeaseConfigurationError(
    `the blob of lease '${leaseName}' does not contain a lease of Akka: choose another name, or remove the blob`,
    { leaseName, store: 'azure-blob' },
  )
}
