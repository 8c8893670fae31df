import type { CasRecord } from '@leasehold/core/store'
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

/** Empty before the first grant, whose token is not known before the blob is created. */
export function toMetadata(name: string, record: CasRecord): Record<string, string> {
  const { revision, breakPeriod, fencingToken } = record
  if (fencingToken === 0n) return {}
  const entries = { ...withGrant({}, { ...record, owner: '', name }), [REVISION]: String(revision) }
  return breakPeriod === undefined ? entries : { ...entries, [BREAK_PERIOD]: String(breakPeriod) }
}
