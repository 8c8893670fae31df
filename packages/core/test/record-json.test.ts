import {
  breakLease,
  createLease,
  Grant,
  LeaseConfigurationError,
  LeaseRecord,
  listLeases,
  readLease,
} from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { setUpInMemory } from './support/runs.js'

/** Beyond the numbers that a JavaScript number can tell apart. */
const token = 2n ** 53n + 1n

const record: LeaseRecord = {
  ...{ name: 'job', owner: 'me', grantId: 'g', fencingToken: token, ttl: Number.POSITIVE_INFINITY },
  ...{ state: 'leased', metadata: { a: '1' }, remaining: Number.POSITIVE_INFINITY },
  ...{ duration: 'infinite', expiresAt: Number.POSITIVE_INFINITY },
  ...{ grantedAt: 1_800_000_000_000, renewals: 3, waiters: 2 },
}

describe('a record as JSON', () => {
  it('is written with its token as text, and read back', async () => {
    const { store, lease } = setUpInMemory()
    await lease.acquire({ metadata: { address: 'a' } })
    const listed: LeaseRecord[] = []
    for await (const one of listLeases(store)) listed.push(one)
    for (const read of [await readLease(store, 'job'), await lease.holder(), ...listed]) {
      const text = JSON.stringify(read)
      expect(JSON.parse(text).fencingToken).toBe(String(lease.fencingToken))
      expect(LeaseRecord.fromJSON(text)).toEqual(read)
      expect(LeaseRecord.fromJSON(JSON.parse(text))).toEqual(read)
      expect(JSON.stringify(LeaseRecord.fromJSON(text))).toBe(text)
    }
    await lease.close()
  })

  it('keeps a token above 2^53 and durations without an end exactly', () => {
    const text = JSON.stringify(LeaseRecord.toJSON(record))
    expect(JSON.parse(text)).toMatchObject({ fencingToken: '9007199254740993', ttl: 'infinite', remaining: 'infinite' })
    expect(LeaseRecord.fromJSON(text)).toEqual(record)
  })

  it('may lack the ttl, where the store does not know that of the holder', () => {
    const { ttl: _, ...foreign } = record
    expect(LeaseRecord.fromJSON(JSON.stringify(LeaseRecord.toJSON(foreign)))).toEqual(foreign)
  })

  it('may lack the time of the grant and the counts', () => {
    const { grantedAt: _, renewals: __, waiters: ___, ...uncounted } = record
    expect(LeaseRecord.fromJSON(JSON.stringify(LeaseRecord.toJSON(uncounted)))).toEqual(uncounted)
  })

  it('has no further enumerable field', async () => {
    const { store, lease } = setUpInMemory()
    await lease.acquire()
    expect(Object.keys((await readLease(store, 'job')) ?? {})).not.toContain('toJSON')
    await lease.release()
    await expect(breakLease(store, 'job')).rejects.toMatchObject({ code: 'conflict' })
  })

  it.each([
    ['no JSON', '{'],
    ['null', null],
    ['a token as a number', { ...LeaseRecord.toJSON(record), fencingToken: 7 }],
    ['a token that is not decimal', { ...LeaseRecord.toJSON(record), fencingToken: '0x7' }],
    ['no owner', { ...LeaseRecord.toJSON(record), owner: undefined }],
    ['an unknown state', { ...LeaseRecord.toJSON(record), state: 'lost' }],
    ['metadata that is not texts', { ...LeaseRecord.toJSON(record), metadata: { a: 1 } }],
    ['an invalid remaining time', { ...LeaseRecord.toJSON(record), remaining: -1 }],
    ['an unknown duration', { ...LeaseRecord.toJSON(record), duration: 'long' }],
    ['an invalid time of expiry', { ...LeaseRecord.toJSON(record), expiresAt: 'soon' }],
    ['a time of the grant that is not a number', { ...LeaseRecord.toJSON(record), grantedAt: 'now' }],
    ['a count of renewals that is not whole', { ...LeaseRecord.toJSON(record), renewals: 1.5 }],
    ['a negative count of waiters', { ...LeaseRecord.toJSON(record), waiters: -1 }],
    ['an invalid ttl', { ...LeaseRecord.toJSON(record), ttl: 0 }],
  ])('is rejected with a typed error if it is %s', (_, json) => {
    expect(() => LeaseRecord.fromJSON(json)).toThrow(LeaseConfigurationError)
    expect(() => LeaseRecord.fromJSON(json)).toThrow('this is not the JSON of a record')
  })
})

describe('a grant as JSON', () => {
  it('is written from an event, and read back', async () => {
    const { lease } = setUpInMemory()
    const texts: string[] = []
    lease.on('acquired', (grant) => texts.push(JSON.stringify(grant)))
    await lease.acquire()
    const [text = ''] = texts
    const grant = Grant.fromJSON(text)
    expect(grant).toMatchObject({ name: 'job', owner: 'me', fencingToken: lease.fencingToken })
    expect(Grant.toJSON(grant)).toEqual(JSON.parse(text))
    expect(() => Grant.fromJSON({})).toThrow('this is not the JSON of a grant')
    await lease.close()
  })
})

it('a hand-off is plain JSON, and is adopted after JSON.parse', async () => {
  const { store, lease, clock } = setUpInMemory()
  await lease.acquire()
  const text = JSON.stringify(await lease.handOff({ owner: 'next' }))
  const next = createLease(store, 'job', { owner: 'next', clock })
  expect(await next.adopt(JSON.parse(text))).toBe(true)
  await next.close()
})
