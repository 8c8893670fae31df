import type { Grant } from '@leasehold/core'
import type { CasEntry, CasRecord } from '@leasehold/core/store'
import { wallTime } from '@leasehold/core/store-kit'
import {
  type GrantNote,
  LEFT,
  NOTE,
  readNote,
  readRelease,
  recordFieldsOf,
  writeNote,
  writeRelease,
} from './grant-note.js'
import { fromIdentity, toIdentity } from './holder-identity.js'
import type { KubernetesObject } from './kubernetes-object.js'
import type { Layout, Spec } from './layouts/layout.js'
import { nameAnnotation, objectName } from './object-name.js'

/** The record in an object, also where another program wrote the object. */
export function decodeEntry(layout: Layout, { metadata, spec }: KubernetesObject): CasEntry<string> {
  const version = metadata.resourceVersion
  const fields = spec ?? {}
  const identity = layout.holderOf(fields)
  const noted = readNote(metadata.annotations)
  if (identity === '') {
    const record = noted === undefined ? released(layout, fields, metadata) : vacated(layout, fields, noted)
    return { version, record }
  }
  const holder = fromIdentity(identity, noted?.id)
  // Another program keeps the annotation of an earlier holder when it writes the object.
  const note = noted?.id === holder.grantId ? noted : undefined
  // The duration in the fields of a broken lease is its break period.
  const ttl = note?.breakPeriod === undefined ? layout.durationOf(fields, note?.ttl) : note.ttl
  const others =
    note === undefined ? { fencingToken: raisedIn(metadata), metadata: {}, ...displacing(noted) } : recordFieldsOf(note)
  return { version, record: { ...others, ...holder, ttl, revision: 0 } }
}

/**
 * The record of a grant whose holder another program removed. Our release removes the annotation as well. client-go's
 * leader election can remove another holder when it releases late: the record that it remembers says that it is the leader,
 * so it removes the current holder. Another Go elector can then take the Lease and release it again, so that the count of
 * transitions does not show who removed the holder.
 */
function vacated(layout: Layout, fields: Spec, noted: GrantNote): CasRecord {
  const { id } = noted
  const transitions = layout.transitionsOf(fields) ?? 0
  const isLast = noted.transitions === undefined || transitions <= noted.transitions
  const { metadata, ...others } = recordFieldsOf(noted)
  // The owner is unknown: the other program removed it. The metadata of a later holder is not known either.
  const last = { owner: id, grantId: id, metadata: isLast ? metadata : {} }
  return { ...others, ...last, revision: 0, ...displacing(noted) }
}

/**
 * The grant of the annotation, if its holder is not in the record any more. That holder may have been cut off. It then
 * believes for the rest of its ttl that it holds the lease, whoever was in the record since.
 */
function displacing(noted: GrantNote | undefined): Pick<CasRecord, 'displaced'> {
  if (noted === undefined) return {}
  const { id: grantId, ttl, breakPeriod = ttl, renewals } = noted
  return { displaced: { grantId, ttl: breakPeriod, ...(renewals === undefined ? {} : { renewals }) } }
}

/**
 * The record of a name without a holder. It needs no token, unless that was raised: the next token is a version, and versions
 * only grow.
 */
function released(
  layout: Layout,
  fields: Spec,
  { resourceVersion, annotations }: KubernetesObject['metadata'],
): CasRecord {
  const left = readRelease(annotations)
  // If the counts differ, a holder that does not know the annotation came later: its metadata is not known.
  const isLast = left !== undefined && left.transitions === layout.transitionsOf(fields)
  const { id: grantId, metadata } = isLast ? left : { id: '', metadata: {} }
  return { owner: '', grantId, fencingToken: raisedAbove(resourceVersion, left?.token), ttl: 1, revision: 0, metadata }
}

/** The last token of this package in the object of a holder that knows no tokens, if it was raised above the versions. */
function raisedIn({ resourceVersion, annotations }: KubernetesObject['metadata']): bigint {
  return raisedAbove(resourceVersion, (readNote(annotations) ?? readRelease(annotations))?.token)
}

/** The token, if it was raised above the versions; else 0. */
function raisedAbove(version: string, token = 0n): bigint {
  return token > 0n && token > BigInt(version) ? token : 0n
}

/**
 * Whether an object has a grant as its holder wrote it. With another duration, challengers could take over too early.
 * Without the annotation, they could not recognise that another program removed the holder. With another count of
 * transitions, they could not tell whose metadata was left.
 */
export function isIntact(layout: Layout, { metadata, spec }: KubernetesObject, grant: Grant): boolean {
  const fields = spec ?? {}
  const noted = readNote(metadata.annotations)
  return (
    layout.holderOf(fields) === toIdentity(grant) &&
    noted?.id === grant.grantId &&
    noted.breakPeriod === undefined &&
    noted.transitions === layout.transitionsOf(fields) &&
    layout.durationOf(fields, noted.ttl) === grant.ttl
  )
}

/** The object of a lease that has none yet. */
export function newObject(layout: Layout, leaseName: string, namespace: string, record: CasRecord): object {
  const { group, version, kind } = layout.resource
  const spec = layout.specOf(undefined, holdingOf(record))
  const annotations = { ...nameAnnotation(leaseName), [NOTE]: writeNote(record, layout.transitionsOf(spec)) }
  const metadata = { name: objectName(leaseName), namespace, annotations }
  return { apiVersion: `${group}/${version}`, kind, metadata, spec }
}

/**
 * The object with another record. All other fields stay: those of other programs, and the uid and version, on which the
 * write is conditional.
 */
export function rewritten(layout: Layout, leaseName: string, object: KubernetesObject, record: CasRecord): object {
  const { managedFields: _, annotations, ...metadata } = object.metadata
  const { [NOTE]: __, [LEFT]: ___, ...others } = annotations ?? {}
  const spec = layout.specOf(object.spec, holdingOf(record))
  const transitions = layout.transitionsOf(spec)
  const raised = raisedAbove(object.metadata.resourceVersion, record.fencingToken)
  const note =
    record.owner === ''
      ? { [LEFT]: writeRelease(record, transitions, raised) }
      : { [NOTE]: writeNote(record, transitions) }
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...others, ...nameAnnotation(leaseName), ...note } },
    spec,
  }
}

function holdingOf(record: CasRecord): { holder: string; duration: number; now: number } {
  const duration = record.breakPeriod ?? record.ttl
  return { holder: record.owner === '' ? '' : toIdentity(record), duration, now: wallTime() }
}
