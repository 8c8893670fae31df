import { LeaseConfigurationError } from '@leasehold/core'
import type { CasRecord } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { checkRecord, rewrite, standingOf, toGrant, toLeaseRecord, unowned } from '../../src/cas/cas-records.js'

const HOUR = 3_600_000

/** Seen unchanged for so long. */
const seen = (unchanged: number, displaced = 0) => ({ unchanged, displaced })
/** The margin that a challenger waits after the ttl. */
const MARGIN = 25

const record: CasRecord = {
  owner: 'a',
  grantId: 'grant',
  fencingToken: 7n,
  ttl: 10_000,
  revision: 3,
  metadata: { version: '2' },
}

describe('the state of a record is', () => {
  it('available while it has no owner, long after its ttl', () => {
    expect(standingOf({ ...record, owner: '' }, seen(0), HOUR)).toEqual({ state: 'available', remaining: 0 })
    expect(standingOf(unowned, seen(HOUR), HOUR)).toEqual({ state: 'available', remaining: 0 })
  })

  it('leased until it was seen unchanged for its ttl and the margin, then expired', () => {
    expect(standingOf(record, seen(400), HOUR)).toEqual({ state: 'leased', remaining: 9_600 + MARGIN })
    expect(standingOf(record, seen(9_999 + MARGIN), HOUR)).toEqual({ state: 'leased', remaining: 1 })
    expect(standingOf(record, seen(10_000 + MARGIN), HOUR)).toEqual({ state: 'expired', remaining: 0 })
  })

  it('breaking until it was seen unchanged for the break period and the margin, then broken', () => {
    const breaking = { ...record, breakPeriod: 4_000 }
    expect(standingOf(breaking, seen(0), HOUR)).toEqual({ state: 'breaking', remaining: 4_000 + MARGIN })
    expect(standingOf(breaking, seen(4_000 + MARGIN), HOUR)).toEqual({ state: 'broken', remaining: 0 })
    expect(standingOf({ ...record, breakPeriod: 0 }, seen(0), HOUR)).toEqual({ state: 'broken', remaining: 0 })
  })

  it('breaking for its ttl after another program removed its owner, then expired; broken if it was broken', () => {
    const vacated = { ...record, displaced: { grantId: 'grant', ttl: 10_000 } }
    const remaining = 10_000 + MARGIN
    expect(standingOf(vacated, seen(HOUR), HOUR)).toEqual({ state: 'breaking', remaining })
    expect(standingOf(vacated, seen(0, remaining), HOUR)).toEqual({ state: 'expired', remaining: 0 })
    const broken = { ...vacated, breakPeriod: 0, displaced: { grantId: 'grant', ttl: 0 } }
    expect(standingOf(broken, seen(0), HOUR)).toEqual({ state: 'broken', remaining: 0 })
  })

  it('leased until both it and the grant that another program replaced have been over for long enough', () => {
    const replaced = { ...record, displaced: { grantId: 'before', ttl: 30_000 } }
    const standing = (unchanged: number, displaced: number) => standingOf(replaced, seen(unchanged, displaced), HOUR)
    expect(standing(10_000 + MARGIN, 12_000)).toEqual({ state: 'leased', remaining: 18_000 + MARGIN })
    expect(standing(4_000, 30_000 + MARGIN)).toEqual({ state: 'leased', remaining: 6_000 + MARGIN })
    expect(standing(10_000 + MARGIN, 30_000 + MARGIN)).toEqual({ state: 'expired', remaining: 0 })
  })

  it.each([-1, Number.NaN, HOUR + 1])('locked for the longest ttl if that of a replaced grant is %d', (ttl) => {
    const replaced = { ...record, displaced: { grantId: 'before', ttl } }
    expect(standingOf(replaced, seen(HOUR), HOUR)).toEqual({ state: 'leased', remaining: HOUR + MARGIN })
  })

  it.each([0, -1, Number.NaN, HOUR + 1])('leased for the longest ttl if its own is %d', (ttl) => {
    expect(standingOf({ ...record, ttl }, seen(0), HOUR)).toEqual({ state: 'leased', remaining: HOUR + MARGIN })
  })

  it.each([-1, Number.NaN, HOUR + 1])('breaking for the longest ttl if its break period is %d', (breakPeriod) => {
    expect(standingOf({ ...record, breakPeriod }, seen(0), HOUR)).toEqual({
      state: 'breaking',
      remaining: HOUR + MARGIN,
    })
  })
})

describe('a record is', () => {
  it('reported with its state, and with the remaining time while it is locked', () => {
    const { revision: _, ...told } = record
    expect(toLeaseRecord('job', record, { state: 'leased', remaining: 5 })).toEqual({
      name: 'job',
      ...told,
      state: 'leased',
      remaining: 5,
    })
    expect(toLeaseRecord('job', record, { state: 'expired', remaining: 0 })).toEqual({
      name: 'job',
      ...told,
      state: 'expired',
    })
  })

  it('granted with all fields that the holder needs', () => {
    const { owner, grantId, fencingToken, ttl } = record
    expect(toGrant('job', record)).toEqual({ name: 'job', owner, grantId, fencingToken, ttl })
  })

  it('written again with the next revision, and is then no longer broken', () => {
    expect(rewrite(record)).toEqual({ ...record, revision: 4 })
    expect(rewrite({ ...record, breakPeriod: 5 }, { owner: 'b' })).toEqual({ ...record, owner: 'b', revision: 4 })
    expect(rewrite(record, { breakPeriod: 5 })).toEqual({ ...record, breakPeriod: 5, revision: 4 })
  })

  it('without an owner and without a grant for a new name', () => {
    expect(unowned).toEqual({ owner: '', grantId: '', fencingToken: 0n, ttl: 1, revision: 0, metadata: {} })
    expect(Object.isFrozen(unowned) && Object.isFrozen(unowned.metadata)).toBe(true)
  })
})

describe('an entry of a register', () => {
  it.each([record, { ...record, breakPeriod: 5 }, unowned])('is a lease record: %#', (found) => {
    expect(() => checkRecord('job', 'etcd', found)).not.toThrow()
  })

  it.each([
    ['owner', 1],
    ['grantId', undefined],
    ['fencingToken', 7],
    ['ttl', '10000'],
    ['revision', 1.5],
    ['metadata', 'none'],
    ['metadata', null],
    ['breakPeriod', '5'],
  ])('is no lease record if %s is %j', (field, value) => {
    expect(() => checkRecord('job', 'etcd', { ...record, [field]: value })).toThrow(LeaseConfigurationError)
  })

  it('is rejected with an error that names the lease and the store', () => {
    const check = () => checkRecord('job', 'etcd', {} as CasRecord)
    expect(check).toThrow("the entry of 'job' in the etcd store is no lease record")
    expect(check).toThrow(expect.objectContaining({ leaseName: 'job', store: 'etcd' }))
  })
})
