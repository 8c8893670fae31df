import { MemoryLeaseStore, systemClock } from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { claimOf } from '@leasehold/testing/job-claims'
import { expect, it } from 'vitest'
import { AdvisoryCompat } from '../src/compat/advisory-compat.js'

const call = new AbortableCall(1_000)

/** A store with `compat` whose lock is free when a claim looks at it, and taken by an old process when it asks for it. */
function contended() {
  const leases = new MemoryLeaseStore()
  const old = { hasLock: true }
  const session = {
    pid: 1,
    isOver: false,
    run: () => Promise.resolve([{ pid: 1, taken: false, locked: !old.hasLock }]),
    close: () => {},
  }
  const alone = {
    acquire: leases.acquire.bind(leases),
    release: leases.release.bind(leases),
    read: leases.read.bind(leases),
    renew: () => Promise.reject(new Error('unused')),
  }
  return {
    leases,
    old,
    compat: new AdvisoryCompat('pg-advisory-lock', () => Promise.resolve(session), systemClock, alone),
  }
}

it('keeps the lease of a claim that the lock refuses, so that no release can arrive when it is granted', async () => {
  const { leases, old, compat } = contended()
  const claim = claimOf('new')
  expect(await compat.acquire(claim, call)).toMatchObject({ granted: false, left: true, holder: { grantId: '' } })
  expect((await leases.acquire(claimOf('other'), call)).granted).toBe(false)
  old.hasLock = false
  expect((await compat.acquire(claim, call)).granted).toBe(true)
})
