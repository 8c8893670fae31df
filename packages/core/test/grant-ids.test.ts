import { breakLease, createLease, MemoryLeaseStore, readLease, releaseLease } from '@leasehold/core'
import { describe, expect, it } from 'vitest'

const id = '0f8fad5b-d9cb-469f-a165-70867728950e'

const spellings = [
  ['as crypto.randomUUID() writes it', id],
  ['without hyphens', id.replaceAll('-', '')],
  ['in braces', `{${id}}`],
  ['in parentheses', `(${id})`],
  ['in upper case', `{${id.toUpperCase()}}`],
] as const

function setUp() {
  const store = new MemoryLeaseStore()
  return { store, lease: createLease(store, 'job') }
}

describe('the id of a grant', () => {
  it.for(spellings)('may be given %s', async ([, grantId]) => {
    const { store, lease } = setUp()
    expect(await lease.acquire({ grantId })).toBe(true)
    expect(await readLease(store, 'job')).toMatchObject({ grantId: id })
    await lease.close()
  })

  it.for(spellings)('identifies the grant again, given %s', async ([, grantId]) => {
    const { store, lease } = setUp()
    await lease.acquire({ grantId: id })
    const restarted = createLease(store, 'job', { owner: lease.settings.owner })
    expect(await restarted.acquire({ grantId })).toBe(true)
    expect(restarted.fencingToken).toBe(lease.fencingToken)
    await Promise.all([lease.close(), restarted.close()])
  })

  it.for(spellings)('may be given %s to release or break a lease', async ([, grantId]) => {
    const { store, lease } = setUp()
    await lease.acquire({ grantId: id })
    expect(await breakLease(store, 'job', { grantId, period: 0 })).toEqual({ remaining: 0 })
    await lease.release()
    await lease.acquire({ grantId: id })
    expect(await releaseLease(store, 'job', { grantId })).toBe(true)
    await lease.close()
  })

  it.for([
    ['one digit too few', id.slice(1)],
    ['an open brace', `{${id}`],
    ['two kinds of brackets', `{${id})`],
    ['braces without hyphens', `{${id.replaceAll('-', '')}}`],
    ['some of the hyphens', id.replace('-', '')],
    ['nothing', ''],
  ] as const)('is rejected with %s', async ([, grantId]) => {
    const { lease } = setUp()
    await expect(lease.acquire({ grantId })).rejects.toThrow('the grant id must be a GUID')
  })
})
