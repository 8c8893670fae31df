import { LeaseTimeoutError } from '@leasehold/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { setUpHeld, VALIDITY } from '../support/held-lease.js'

// No jitter, so that the times below are exact. Other tests cover the jitter.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

describe('rule 2: a deadline timer independent of any promise in flight ends validity', () => {
  it('notifies of the loss at the deadline, although the store hangs and ignores the abort of its call', async () => {
    const { clock, lease, losses } = await setUpHeld()
    await clock.advance(VALIDITY - 1)
    expect(losses).toEqual([])
    expect(lease.checkLease()).toBe(true)
    await clock.advance(1)
    expect(losses).toMatchObject([{ reason: 'expired' }])
    expect(lease.state).toBe('idle')
  })

  it('retries until the deadline, each attempt with its own time limit', async () => {
    const { clock, store } = await setUpHeld()
    await clock.advance(VALIDITY)
    const attempts = store.calls.filter((call) => call.method === 'renew')
    expect(attempts.length).toBeGreaterThanOrEqual(5)
    expect(attempts.every(({ call }) => call.aborted)).toBe(true)
  })

  it('aborts the signal of the lease, and reports the failure that led to the loss', async () => {
    const { clock, lease, losses } = await setUpHeld()
    const { signal } = lease
    await clock.advance(VALIDITY)
    expect(signal.aborted).toBe(true)
    expect(signal.reason).toMatchObject({ code: 'lost', reason: 'expired' })
    expect(losses[0]?.cause).toBeInstanceOf(LeaseTimeoutError)
  })
})
