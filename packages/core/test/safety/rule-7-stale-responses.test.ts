import { LeaseTimeoutError } from '@leasehold/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { INTERVAL, LIMIT, setUp, setUpHeld, VALIDITY } from '../support/held-lease.js'

// No jitter, so that the times below are exact. Other tests cover the jitter.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

describe('rule 7: one operation in flight, and a stale response changes nothing', () => {
  it('a late confirmation of an aborted heartbeat does not prolong the validity', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(INTERVAL)
    const first = store.last('renew')
    await clock.advance(LIMIT + INTERVAL / 2)
    expect(store.count('renew')).toBe(2)
    const before = lease.remaining
    first.answer('yes')
    await clock.settle()
    expect(lease.remaining).toBe(before)
    expect(lease.state).toBe('jeopardy')
  })

  it('a late refusal of an aborted heartbeat does not end the lease', async () => {
    const { clock, store, lease, losses } = await setUpHeld()
    await clock.advance(INTERVAL)
    const first = store.last('renew')
    await clock.advance(LIMIT + INTERVAL / 2)
    first.answer({ renewed: false, reason: 'taken' })
    await clock.settle()
    expect(losses).toEqual([])
    expect(lease.checkLease()).toBe(true)
  })

  it('the answer to a heartbeat of an earlier grant does not affect the next grant', async () => {
    const { clock, store, lease, losses } = await setUpHeld()
    await clock.advance(INTERVAL)
    const heartbeat = store.last('renew')
    const released = lease.release()
    store.last('release').answer('yes')
    await released
    const again = lease.acquire({ onLost: (lost) => losses.push(lost) })
    store.last('acquire').answer('yes')
    expect(await again).toBe(true)
    heartbeat.answer({ renewed: false, reason: 'taken' })
    await clock.settle()
    expect(losses).toEqual([])
    expect(lease.checkLease()).toBe(true)
  })

  it('never has two calls in flight, except aborted ones', async () => {
    const { clock, store, lease } = await setUpHeld()
    for (let instant = 0; instant < VALIDITY; instant += 10) {
      await clock.advance(10)
      const open = store.calls.filter(({ method, call }) => method === 'renew' && !call.aborted)
      expect(open.length).toBeLessThanOrEqual(1)
    }
    expect(lease.state).toBe('idle')
  })

  it('a grant after the claim was abandoned is not held, and is released', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId, answer } = store.last('acquire')
    const rejected = expect(acquired).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await rejected
    answer('yes')
    await clock.advance(LIMIT)
    expect(lease.checkLease()).toBe(false)
    expect(lease.state).toBe('idle')
    store.calls.find(({ method }) => method === 'read')?.answer(undefined)
    await clock.advance(LIMIT)
    expect(store.calls.some((call) => call.method === 'release' && call.grantId === grantId)).toBe(true)
  })
})
