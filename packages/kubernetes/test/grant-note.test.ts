import type { CasRecord } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { LEFT, NOTE, readNote, readRelease, writeNote, writeRelease } from '../src/grant-note.js'

const record: CasRecord = {
  owner: 'me',
  grantId: 'g',
  fencingToken: 18_446_744_073_709_551_615n,
  ttl: 10_500,
  revision: 0,
  metadata: { version: '2' },
}

const read = (note: unknown) => readNote({ [NOTE]: typeof note === 'string' ? note : JSON.stringify(note) })

describe('the note of a grant', () => {
  it('comes back as it was written, with a token of 64 bits and a break period of nothing', () => {
    const { owner: _, revision: __, grantId: id, fencingToken: token, ...rest } = record
    expect(read(writeNote(record, 0))).toEqual({ id, token, ...rest, transitions: 0 })
    expect(read(writeNote({ ...record, breakPeriod: 0 }, 7))).toEqual({
      id,
      token,
      ...rest,
      transitions: 7,
      breakPeriod: 0,
    })
  })

  it('has no token before the first heartbeat, and neither metadata nor transitions where there are none', () => {
    const text = writeNote({ ...record, fencingToken: 0n, metadata: {} }, undefined)
    expect(JSON.parse(text)).toEqual({ id: 'g', ttl: 10_500 })
    expect(read(text)).toEqual({ id: 'g', ttl: 10_500, token: 0n, metadata: {} })
  })

  it.each([
    ['no text', 7],
    ['no JSON', '{'],
    ['a list', '[]'],
    ['nothing', 'null'],
    ['no id', { ttl: 1 }],
    ['an empty id', { id: '', ttl: 1 }],
    ['no ttl', { id: 'g' }],
    ['a ttl of 0', { id: 'g', ttl: 0 }],
    ['a negative ttl', { id: 'g', ttl: -1 }],
    ['a ttl that is a text', { id: 'g', ttl: '1' }],
  ])('is none where it is %s', (_, note) => {
    expect(note === 7 ? readNote({ [NOTE]: note }) : read(note)).toBeUndefined()
  })

  it('is read without invalid fields', () => {
    const odd = { token: '1e9', metadata: { a: 'b', c: 7 }, transitions: '3', breakPeriod: -1 }
    expect(read({ id: 'g', ttl: 1, ...odd })).toEqual({ id: 'g', ttl: 1, token: 0n, metadata: { a: 'b' } })
    expect(read({ id: 'g', ttl: 1, token: '1'.repeat(21), metadata: ['a'] })).toMatchObject({ token: 0n, metadata: {} })
  })

  it.each([undefined, null, 'text', []])('is none where the annotations are %j', (annotations) => {
    expect(readNote(annotations)).toBeUndefined()
  })
})

describe('the annotation of a released grant', () => {
  it('has the metadata that the holder left, also if it is empty', () => {
    for (const metadata of [{}, { step: '1' }]) {
      const text = writeRelease({ ...record, owner: '', metadata }, 3, 0n)
      expect(readRelease({ [LEFT]: text })).toEqual({ id: 'g', metadata, transitions: 3, token: 0n })
    }
  })

  it('has a token only if that was raised: it is as before for older versions', () => {
    expect(writeRelease(record, 3, 0n)).toBe('{"id":"g","metadata":{"version":"2"},"transitions":3}')
    const text = writeRelease(record, 3, record.fencingToken)
    expect(readRelease({ [LEFT]: text })?.token).toBe(record.fencingToken)
  })

  it.each(['{', '[]', '{"id":"","metadata":{}}', '{"id":"g"}', '{"id":"g","metadata":[]}'])(
    'is none if it is %s',
    (text) => {
      expect(readRelease({ [LEFT]: text })).toBeUndefined()
    },
  )
})
