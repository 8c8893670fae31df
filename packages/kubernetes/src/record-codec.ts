import type { Grant } from '@leasehold/core'
import type { CasEntry, CasRecord } from '@leasehold/core/store'
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
import { wallClock } from './wall-clock.js'

/** The record in an object, also where another program wrote the object. */
export function decodeEntry(layout: Layout, { metadata, spec }: KubernetesObject): CasEntry<string> {
  const version = metadata.resourceVersion
  const fields = spec ?? {}
  const identity = layout.holderOf(fields)
  const noted = readNote(metadata.annotations)
  if (identity === '') {
    if (!isVacated(layout, fields, noted)) return { version, record: released(layout, fields, metadata.annotations) }
    // The owner is unknown: the other program removed it.
    const { id } = noted
    return { version, record: { ...recordFieldsOf(noted), owner: id, grantId: id, revision: 0, vacated: true } }
  }
  const holder = fromIdentity(identity, noted?.id)
  // Another program keeps the annotation of an earlier holder when it writes the object.
  const note = noted?.id === holder.grantId ? noted : undefined
  // The duration in the fields of a broken lease is its break period.
  const ttl = note?.breakPeriod === undefined ? layout.durationOf(fields, note?.ttl) : note.ttl
  const others = note === undefined ? { fencingToken: 0n, metadata: {} } : recordFieldsOf(note)
  return { version, record: { ...others, ...holder, ttl, revision: 0 } }
}

/**
 * Whether another program removed the holder. Our release removes the annotation as well, and a release by a later holder
 * has a larger count of transitions. client-go's leader election removes the holder when it releases late: it decides by
 * the record that it remembers that it is the leader, and then removes the current holder. Depending on its version, it
 * writes the count of transitions that it has just read, or the smaller one that it remembers.
 */
function isVacated(layout: Layout, fields: Spec, noted: GrantNote | undefined): noted is GrantNote {
  if (noted === undefined) return false
  const transitions = layout.transitionsOf(fields)
  return transitions === undefined || noted.transitions === undefined || transitions <= noted.transitions
}

/** The record of a name without a holder. It needs no token: the next token is a version, and versions only grow. */
function released(layout: Layout, fields: Spec, annotations: unknown): CasRecord {
  const left = readRelease(annotations)
  // A holder that does not know the annotation was there since: its metadata is not known.
  const isLast = left !== undefined && left.transitions === layout.transitionsOf(fields)
  const { id: grantId, metadata } = isLast ? left : { id: '', metadata: {} }
  return { owner: '', grantId, fencingToken: 0n, ttl: 1, revision: 0, metadata }
}

/**
 * Whether an object has a grant as its holder wrote it. With another duration, challengers could take over too early.
 * Without the annotation, or with another count of transitions, they could not recognise that another program removed the
 * holder.
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
  const note =
    record.owner === '' ? { [LEFT]: writeRelease(record, transitions) } : { [NOTE]: writeNote(record, transitions) }
  return {
    ...object,
    metadata: { ...metadata, annotations: { ...others, ...nameAnnotation(leaseName), ...note } },
    spec,
  }
}

function holdingOf(record: CasRecord): { holder: string; duration: number; now: number } {
  const duration = record.breakPeriod ?? record.ttl
  return { holder: record.owner === '' ? '' : toIdentity(record), duration, now: wallClock() }
}
