import type { CasEntry, CasRecord, Grant } from '@leasehold/core'
import { type GrantNote, NOTE, readNote, writeNote } from './grant-note.js'
import { fromIdentity, toIdentity } from './holder-identity.js'
import type { KubernetesObject } from './kubernetes-object.js'
import type { Layout, Spec } from './layouts/layout.js'
import { wallClock } from './wall-clock.js'

/** The record that an object holds, whoever wrote it. */
export function decodeEntry(layout: Layout, { metadata, spec }: KubernetesObject): CasEntry<string> {
  const version = metadata.resourceVersion
  const fields = spec ?? {}
  const identity = layout.holderOf(fields)
  const noted = readNote(metadata.annotations)
  if (identity === '') return { version, record: isVacated(layout, fields, noted) ? vacated(noted) : free }
  const holder = fromIdentity(identity, noted?.id)
  // A note stays where somebody else, who does not know it, has written the object since.
  const note = noted?.id === holder.grantId ? noted : undefined
  // Of a broken lease, the duration in the fields is its break period.
  const ttl = note?.breakPeriod === undefined ? layout.durationOf(fields, note?.ttl) : note.ttl
  const record: CasRecord = {
    ...holder,
    fencingToken: note?.token ?? 0n,
    ttl,
    revision: 0,
    metadata: note?.metadata ?? {},
    ...(note?.breakPeriod === undefined ? {} : { breakPeriod: note.breakPeriod }),
  }
  return { version, record }
}

/**
 * Whether the holder was removed, but neither by a release of ours, which removes the note, nor by the release of a later
 * holder, who has counted a transition. client-go's leader election does so when it releases late: it decides by the
 * record that it remembers whether it is the leader, and then empties the holder that is there now. Depending on the
 * version, it writes the transitions that it has just read, or those that it remembers, which are fewer.
 */
function isVacated(layout: Layout, fields: Spec, noted: GrantNote | undefined): noted is GrantNote {
  if (noted === undefined) return false
  const transitions = layout.transitionsOf(fields)
  return transitions === undefined || noted.transitions === undefined || transitions <= noted.transitions
}

/** The grant that the note is of. Its owner stood in the field that was emptied. */
function vacated({ id, ttl, token, metadata, breakPeriod }: GrantNote): CasRecord {
  const record = { owner: id, grantId: id, fencingToken: token, ttl, revision: 0, metadata, vacated: true }
  return breakPeriod === undefined ? record : { ...record, breakPeriod }
}

/** Of a name that nobody holds nothing is kept: its next token is a version, and those only grow. */
const free: CasRecord = Object.freeze({
  owner: '',
  grantId: '',
  fencingToken: 0n,
  ttl: 1,
  revision: 0,
  metadata: Object.freeze({}),
})

/**
 * Whether an object holds a grant as its holder wrote it. Another duration would let others come early; and without the
 * note, or with other transitions than it has, nobody would recognise that another program removed the holder.
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
export function newObject(layout: Layout, name: string, namespace: string, record: CasRecord): object {
  const { group, version, kind } = layout.resource
  const spec = layout.specOf(undefined, holdingOf(record))
  const annotations = { [NOTE]: writeNote(record, layout.transitionsOf(spec)) }
  return { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace, annotations }, spec }
}

/**
 * The object with another record. All else in it stays: what others keep there, and its uid and version, on which the
 * write depends.
 */
export function rewritten(layout: Layout, object: KubernetesObject, record: CasRecord): object {
  const { managedFields: _, annotations, ...metadata } = object.metadata
  const { [NOTE]: __, ...others } = annotations ?? {}
  const spec = layout.specOf(object.spec, holdingOf(record))
  const note = writeNote(record, layout.transitionsOf(spec))
  const noted = record.owner === '' ? others : { ...others, [NOTE]: note }
  return { ...object, metadata: { ...metadata, annotations: noted }, spec }
}

function holdingOf(record: CasRecord): { holder: string; duration: number; now: number } {
  const duration = record.breakPeriod ?? record.ttl
  return { holder: record.owner === '' ? '' : toIdentity(record), duration, now: wallClock() }
}
