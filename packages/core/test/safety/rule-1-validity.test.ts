import { LeaseTimeoutError } from '@leasehold/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { INTERVAL, LIMIT, setUp, setUpHeld, TTL, VALIDITY } from '../support/held-lease.js'
import { recordOf } from '../support/scripted-store.js'

// No jitter, so that the times below are exact. Other tests cover the jitter.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

describe('rule 1: validity ends at requestSentAt + ttl − drift − margin of the last confirmed request', () => {
  it('counts from the send time of the acquire, not from its answer', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    await clock.advance(900)
    store.last('acquire').answer('yes')
    expect(await acquired).toBe(true)
    clock.block(VALIDITY - 900 - 1)
    expect(lease.checkLease()).toBe(true)
    clock.block(1)
    expect(lease.checkLease()).toBe(false)
  })

  it('counts from the send time of the heartbeat, not from its answer', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(INTERVAL)
    await clock.advance(900)
    store.last('renew').answer('yes')
    await clock.settle()
    clock.block(VALIDITY - 900 - 1)
    expect(lease.checkLease()).toBe(true)
    clock.block(1)
    expect(lease.checkLease()).toBe(false)
  })

  it('subtracts one part in a hundred for drift and a margin of 25 ms', async () => {
    const { lease } = await setUpHeld()
    expect(lease.remaining).toBe(TTL * 0.99 - 25)
  })

  it('is not prolonged by an unconfirmed heartbeat', async () => {
    const { clock, lease } = await setUpHeld()
    await clock.advance(INTERVAL + LIMIT / 2)
    expect(lease.remaining).toBe(VALIDITY - INTERVAL - LIMIT / 2)
  })

  it('is over when the answer comes too late: the grant is not held, and is released', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId, answer } = store.last('acquire')
    clock.block(VALIDITY)
    answer('yes')
    await expect(acquired).rejects.toBeInstanceOf(LeaseTimeoutError)
    expect(lease.checkLease()).toBe(false)
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '' }))
    await clock.settle()
    expect(store.last('release').grantId).toBe(grantId)
  })

  it('ends finally: a confirmation after its end does not restore it', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(INTERVAL)
    const heartbeat = store.last('renew')
    clock.block(VALIDITY - INTERVAL)
    expect(lease.checkLease()).toBe(false)
    heartbeat.answer('yes')
    await Promise.resolve()
    await Promise.resolve()
    expect(lease.checkLease()).toBe(false)
  })
})
