import type { Grant } from '@leasehold/core'
import type { CasRecord } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { LEFT, NOTE } from '../src/grant-note.js'
import type { KubernetesObject } from '../src/kubernetes-object.js'
import { jvmLayout } from '../src/layouts/jvm-layout.js'
import { leaseLayout } from '../src/layouts/lease-layout.js'
import { decodeEntry, isIntact, newObject, rewritten } from '../src/record-codec.js'

const layouts = [
  ['lease', leaseLayout],
  ['akka', jvmLayout('akka.io', 120_000)],
] as const

const grant: Grant = { name: 'job', owner: 'me', grantId: 'g', fencingToken: 7n, ttl: 10_500 }
const { name: _, ...fields } = grant
const record: CasRecord = { ...fields, revision: 0, metadata: { version: '2' } }

/** The object as the server keeps it. */
function stored(layout: (typeof layouts)[number][1], kept: CasRecord = record): KubernetesObject {
  const { metadata, ...made } = newObject(layout, 'job', 'default', kept) as KubernetesObject
  return { ...made, metadata: { ...metadata, uid: 'u', resourceVersion: '41' } }
}

/** The same, with other fields. */
function edited(object: KubernetesObject, spec: object, annotations?: Record<string, string>): KubernetesObject {
  const metadata = annotations === undefined ? object.metadata : { ...object.metadata, annotations }
  return { ...object, metadata, spec: { ...object.spec, ...spec } }
}

describe.each(layouts)('a record in the layout %s', (_, layout) => {
  it('comes back as it was written', () => {
    const others = [{ breakPeriod: 4_500 }, { breakPeriod: 0 }, { previous: {} }, { previous: { step: '1' } }]
    for (const kept of [record, ...others.map((other) => ({ ...record, ...other }))]) {
      expect(decodeEntry(layout, stored(layout, kept))).toEqual({ version: '41', record: kept })
    }
  })

  it('is written over all that others keep in the object, conditional on its version and its uid', () => {
    const object = stored(layout)
    const theirs = { labels: { app: 'x' }, annotations: { ...object.metadata.annotations, note: 'theirs' } }
    const read = { ...object, status: 1, metadata: { ...object.metadata, ...theirs, managedFields: [] } }
    const next = rewritten(layout, 'job', read, { ...record, grantId: 'h' })
    expect(next).toMatchObject({
      status: 1,
      metadata: { uid: 'u', resourceVersion: '41', labels: { app: 'x' }, annotations: { note: 'theirs' } },
    })
    expect(next).not.toHaveProperty('metadata.managedFields')
    expect(decodeEntry(layout, next as KubernetesObject).record.grantId).toBe('h')
    const free = rewritten(layout, 'job', read, { ...record, owner: '' })
    expect(free).toHaveProperty('metadata.annotations.note', 'theirs')
    expect(free).not.toHaveProperty(['metadata', 'annotations', NOTE])
    const left = { owner: '', grantId: 'g', metadata: record.metadata }
    expect(decodeEntry(layout, free as KubernetesObject).record).toMatchObject(left)
    const held = rewritten(layout, 'job', free as KubernetesObject, { ...record, previous: record.metadata })
    expect(held).not.toHaveProperty(['metadata', 'annotations', LEFT])
  })

  it('is intact as its holder wrote it, and after a heartbeat', () => {
    const object = stored(layout)
    expect(isIntact(layout, object, grant)).toBe(true)
    expect(isIntact(layout, rewritten(layout, 'job', object, record) as KubernetesObject, grant)).toBe(true)
  })

  it.each([
    ['of another grant', { ...record, grantId: 'h' }],
    ['of another owner', { ...record, owner: 'you' }],
    ['that is released', { ...record, owner: '' }],
    ['with another ttl', { ...record, ttl: 10_400 }],
    ['that is broken', { ...record, breakPeriod: 10_500 }],
  ])('is not intact: one %s', (_, other) => {
    expect(isIntact(layout, rewritten(layout, 'job', stored(layout), other) as KubernetesObject, grant)).toBe(false)
  })

  it('is not intact without its note, or with that of another grant', () => {
    const object = stored(layout)
    for (const annotations of [{}, { [NOTE]: '{"id":"h","ttl":10500}' }]) {
      expect(isIntact(layout, edited(object, {}, annotations), grant)).toBe(false)
    }
  })
})

/** Above and below the version of the object, which is 41. */
const [RAISED, PASSED] = [100n, 41n]

describe('the token of a free name', () => {
  const freed = (fencingToken: bigint, object = stored(leaseLayout)) =>
    rewritten(leaseLayout, 'job', object, { ...record, owner: '', fencingToken }) as KubernetesObject

  it('is kept while it is larger than the versions, over holders that know no tokens too', () => {
    const free = freed(RAISED)
    expect(decodeEntry(leaseLayout, free).record.fencingToken).toBe(RAISED)
    const theirs = edited(free, { holderIdentity: 'go_1', leaseTransitions: 1, leaseDurationSeconds: 15 })
    expect(decodeEntry(leaseLayout, theirs).record).toMatchObject({ owner: 'go_1', fencingToken: RAISED })
    const freeAgain = edited(theirs, { holderIdentity: '' })
    expect(decodeEntry(leaseLayout, freeAgain).record).toMatchObject({ owner: '', grantId: '', fencingToken: RAISED })
    const later = { ...freeAgain, metadata: { ...freeAgain.metadata, resourceVersion: '100' } }
    expect(decodeEntry(leaseLayout, later).record.fencingToken).toBe(0n)
  })

  it('is kept where a holder that knows no tokens took the name from the grant', () => {
    const held = stored(leaseLayout, { ...record, fencingToken: RAISED })
    const theirs = edited(held, { holderIdentity: 'go_1', leaseTransitions: 1 })
    expect(decodeEntry(leaseLayout, theirs).record.fencingToken).toBe(RAISED)
    expect(decodeEntry(leaseLayout, edited(theirs, { holderIdentity: '' })).record.fencingToken).toBe(RAISED)
  })

  it('is not written if it is not larger than the versions: the object is as before', () => {
    const left = '{"id":"g","metadata":{"version":"2"},"transitions":0}'
    for (const token of [0n, 7n, PASSED]) expect(freed(token).metadata.annotations).toMatchObject({ [LEFT]: left })
  })
})

describe('a record in the layout lease', () => {
  it('is not intact with another count of transitions, or another duration', () => {
    const object = stored(leaseLayout)
    for (const spec of [{ leaseTransitions: 1 }, { leaseDurationSeconds: 10 }, { leaseDurationSeconds: undefined }]) {
      expect(isIntact(leaseLayout, edited(object, spec), grant)).toBe(false)
    }
  })

  it('has the break period as the duration of a broken lease, for other programs', () => {
    expect(stored(leaseLayout, { ...record, breakPeriod: 4_500 }).spec?.leaseDurationSeconds).toBe(5)
  })

  it('is vacated if the holder was removed, but neither released nor taken over', () => {
    const object = edited(
      stored(leaseLayout, { ...record, breakPeriod: 4_500 }),
      { leaseTransitions: 5 },
      {
        [NOTE]: '{"id":"g","ttl":10500,"transitions":5,"breakPeriod":4500}',
      },
    )
    const displaced = { grantId: 'g', ttl: 4_500 }
    const vacated = { owner: 'g', grantId: 'g', ttl: 10_500, breakPeriod: 4_500, displaced }
    // The count of transitions says only who came in between.
    for (const transitions of [6, 5, 4, 0, undefined, 'many']) {
      const empty = edited(object, { holderIdentity: '', leaseTransitions: transitions })
      expect(decodeEntry(leaseLayout, empty).record, String(transitions)).toMatchObject(vacated)
    }
  })

  it('is also vacated if the annotation has no transitions, for example after an edit', () => {
    const note = { [NOTE]: '{"id":"g","ttl":10500,"renewals":3}' }
    const empty = edited(stored(leaseLayout), { holderIdentity: '', leaseTransitions: 3 }, note)
    const displaced = { grantId: 'g', ttl: 10_500, renewals: 3 }
    expect(decodeEntry(leaseLayout, empty).record).toMatchObject({ grantId: 'g', ttl: 10_500, displaced })
  })

  it('has the metadata of the removed holder, unless another one has counted a transition since', () => {
    const empty = (leaseTransitions: number) => edited(stored(leaseLayout), { holderIdentity: '', leaseTransitions })
    expect(decodeEntry(leaseLayout, empty(0)).record.metadata).toEqual(record.metadata)
    expect(decodeEntry(leaseLayout, empty(1)).record.metadata).toEqual({})
  })

  it('of another holder has the grant of a note that is still there as displaced, and nothing else of it', () => {
    const theirs = edited(stored(leaseLayout, { ...record, breakPeriod: 1 }), {
      holderIdentity: 'go_1',
      leaseDurationSeconds: 60,
    })
    expect(decodeEntry(leaseLayout, theirs).record).toEqual({
      owner: 'go_1',
      grantId: 'go_1',
      fencingToken: 0n,
      ttl: 60_000,
      revision: 0,
      metadata: {},
      displaced: { grantId: 'g', ttl: 1 },
    })
  })
})
