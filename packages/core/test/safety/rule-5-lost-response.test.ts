import { LeaseTimeoutError, LeaseUnavailableError } from '@leasehold/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { INTERVAL, LIMIT, setUp, TTL, VALIDITY } from '../support/held-lease.js'
import { recordOf } from '../support/scripted-store.js'

// No jitter, so that the times below are exact. Other tests cover the jitter.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

const reset = new Error('read ECONNRESET')

describe('rule 5: acquire proposes its own grant id, and a lost response is settled by reading', () => {
  it('holds the lease when the record has our grant id, from the send time of the acquire', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId, fail } = store.last('acquire')
    await clock.advance(300)
    fail(reset)
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '', fencingToken: 41n, ttl: TTL }))
    expect(await acquired).toBe(true)
    expect(lease.fencingToken).toBe(41n)
    expect(lease.remaining).toBe(VALIDITY - 300)
  })

  it('resolves false when the record has the grant of another owner', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    store.last('acquire').fail(reset)
    await clock.settle()
    store.last('read').answer(recordOf())
    expect(await acquired).toBe(false)
  })

  it('rejects when reading does not settle it, and releases a grant that was made after all', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId, fail } = store.last('acquire')
    fail(reset)
    await clock.settle()
    store.last('read').answer(undefined)
    await expect(acquired).rejects.toBeInstanceOf(LeaseUnavailableError)
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '' }))
    await clock.settle()
    expect(store.last('release').grantId).toBe(grantId)
  })

  it('checks again for a grant that reaches the store after the first check', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId } = store.last('acquire')
    const refused = expect(acquired).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await refused
    store.last('read').answer(undefined)
    await clock.settle()
    expect(store.count('release')).toBe(0)
    await clock.advance(LIMIT)
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '' }))
    await clock.settle()
    expect(store.last('release').grantId).toBe(grantId)
  })

  it('repeats a claim with the same grant id, and starts a new claim with a new one', async () => {
    const { clock, store, lease } = setUp()
    const waiting = lease.acquire({ wait: TTL })
    const first = store.last('acquire')
    first.answer({ granted: false, holder: recordOf() })
    await clock.advance(INTERVAL)
    const second = store.last('acquire')
    expect(second.grantId).toBe(first.grantId)
    second.answer('yes')
    expect(await waiting).toBe(true)
    const released = lease.release()
    store.last('release').answer('yes')
    await released
    void lease.acquire()
    expect(store.last('acquire').grantId).not.toBe(first.grantId)
  })

  it('counts validity from the first request that may have been granted, if reading cannot distinguish them', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire({ wait: TTL })
    const { grantId, fail } = store.last('acquire')
    // The first request takes effect, and its answers are lost.
    await clock.advance(200)
    fail(reset)
    await clock.settle()
    store.last('read').fail(reset)
    while (store.count('acquire') === 1) await clock.advance(1)
    // The second request is lost without effect. Reading then finds the grant of the first.
    store.last('acquire').fail(reset)
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '', ttl: TTL }))
    expect(await acquired).toBe(true)
    expect(lease.remaining).toBe(VALIDITY - clock.now())
  })
})
