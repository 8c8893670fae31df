import type { CasEntry, CasRecord } from '@leasehold/core'
import { NOTE, readNote, writeNote } from './grant-note.js'
import { fromIdentity, toIdentity } from './holder-identity.js'
import type { KubernetesObject } from './kubernetes-object.js'
import type { Layout } from './layouts/layout.js'
import { wallClock } from './wall-clock.js'

/** The record that an object holds, whoever wrote it. */
export function decodeEntry(layout: Layout, { metadata, spec }: KubernetesObject): CasEntry<string> {
  const version = metadata.resourceVersion
  const fields = spec ?? {}
  const identity = layout.holderOf(fields)
  if (identity === '') return { version, record: free }
  const noted = readNote(metadata.annotations)
  const holder = fromIdentity(identity, noted?.id)
  // A note stays where somebody else, who does not know it, has written the object since.
  const note = noted?.id === holder.grantId ? noted : undefined
  const { breakPeriod } = note ?? {}
  const duration = layout.durationOf(fields, breakPeriod ?? note?.ttl)
  const record: CasRecord = {
    ...holder,
    fencingToken: note?.token ?? 0n,
    ttl: breakPeriod === undefined ? duration : (note?.ttl ?? duration),
    revision: 0,
    metadata: note?.metadata ?? {},
    ...(breakPeriod === undefined ? {} : { breakPeriod }),
  }
  return { version, record }
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

/** The object of a lease that has none yet. */
export function newObject(layout: Layout, name: string, namespace: string, record: CasRecord): object {
  const { group, version, kind } = layout.resource
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { name, namespace, annotations: { [NOTE]: writeNote(record) } },
    spec: layout.specOf(undefined, holdingOf(record)),
  }
}

/**
 * The object with another record. All else in it stays: what others keep there, and its uid and version, on which the
 * write depends.
 */
export function rewritten(layout: Layout, object: KubernetesObject, record: CasRecord): object {
  const { managedFields: _, annotations, ...metadata } = object.metadata
  const { [NOTE]: __, ...others } = annotations ?? {}
  const noted = record.owner === '' ? others : { ...others, [NOTE]: writeNote(record) }
  const spec = layout.specOf(object.spec, holdingOf(record))
  return { ...object, metadata: { ...metadata, annotations: noted }, spec }
}

function holdingOf(record: CasRecord): { holder: string; duration: number; now: number } {
  const duration = record.breakPeriod ?? record.ttl
  return { holder: record.owner === '' ? '' : toIdentity(record), duration, now: wallClock() }
}
