import { LeaseTimeoutError } from '@leasehold/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { setUpHeld, VALIDITY } from '../support/held-lease.js'

// Without jitter, so that the instants below are exact; the jitter has tests of its own.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

describe('rule 2: a deadline timer independent of any promise in flight ends validity', () => {
  it('tells the loss at the deadline though the store hangs for ever and ignores that its call is aborted', async () => {
    const { clock, lease, losses } = await setUpHeld()
    await clock.advance(VALIDITY - 1)
    expect(losses).toEqual([])
    expect(lease.checkLease()).toBe(true)
    await clock.advance(1)
    expect(losses).toMatchObject([{ reason: 'expired' }])
    expect(lease.state).toBe('idle')
  })

  it('goes on trying until then, each attempt with its own time limit', async () => {
    const { clock, store } = await setUpHeld()
    await clock.advance(VALIDITY)
    const attempts = store.calls.filter((call) => call.method === 'renew')
    expect(attempts.length).toBeGreaterThanOrEqual(5)
    expect(attempts.every(({ call }) => call.aborted)).toBe(true)
  })

  it('aborts the signal of the lease, and says which failure led to the loss', async () => {
    const { clock, lease, losses } = await setUpHeld()
    const { signal } = lease
    await clock.advance(VALIDITY)
    expect(signal.aborted).toBe(true)
    expect(signal.reason).toMatchObject({ code: 'lost', reason: 'expired' })
    expect(losses[0]?.cause).toBeInstanceOf(LeaseTimeoutError)
  })
})
