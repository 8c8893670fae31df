import type { CasRecord } from '@leasehold/core'
import { grantIn, type Metadata, withGrant } from '../stored-grant.js'

/** What a record of a compare-and-set register has beside a grant. */
const REVISION = 'leaseholdrevision'
const BREAK_PERIOD = 'leaseholdbreak'

/** The record beside a body that was written here; `undefined`: it was written by Akka, which keeps no metadata. */
export function recordBeside(name: string, owner: string, metadata: Metadata): CasRecord | undefined {
  const stored = grantIn(name, metadata)
  if (stored === undefined) return undefined
  const { grantId, fencingToken, ttl, metadata: told } = stored
  const { [REVISION]: revision, [BREAK_PERIOD]: breakPeriod } = metadata
  const record = { owner, grantId, fencingToken, ttl, revision: Number(revision), metadata: told }
  return breakPeriod === undefined ? record : { ...record, breakPeriod: Number(breakPeriod) }
}

/** Nothing where nobody was granted it yet: its first token is not known before it was written. */
export function toMetadata(name: string, record: CasRecord): Record<string, string> {
  const { revision, breakPeriod, fencingToken } = record
  if (fencingToken === 0n) return {}
  const entries = { ...withGrant({}, { ...record, owner: '', name }), [REVISION]: String(revision) }
  return breakPeriod === undefined ? entries : { ...entries, [BREAK_PERIOD]: String(breakPeriod) }
}
