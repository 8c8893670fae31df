import { LeaseError, LeaseTimeoutError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { callWithin } from '../../src/engine/timed-call.js'
import { rules } from '../support/rules.js'

const LIMIT = rules.operationTimeout

describe('a call outside the life cycle', () => {
  it('resolves like the store, and leaves no timer behind', async () => {
    const clock = new VirtualClock()
    expect(await callWithin(rules, clock, 'read', async () => undefined)).toBeUndefined()
    expect(await callWithin(rules, clock, 'withdraw', async () => 7)).toBe(7)
    expect(clock.pending).toBe(0)
  })

  it('rejects when the answer is invalid', async () => {
    const answer = callWithin(rules, new VirtualClock(), 'release', async () => 7)
    await expect(answer).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('rejects at its time limit with an error that names the call, and aborts it', async () => {
    const clock = new VirtualClock()
    let given: AbortSignal | undefined
    const called = callWithin(rules, clock, 'withdraw', (call) => {
      given = call.signal
      return new Promise(() => {})
    })
    const rejected = expect(called).rejects.toThrow(/^withdraw of lease 'job' did not answer within 1000 ms/)
    await clock.advance(LIMIT - 1)
    expect(given?.aborted).toBe(false)
    await clock.advance(1)
    await rejected
    expect(given?.reason).toBeInstanceOf(LeaseTimeoutError)
    expect(clock.pending).toBe(0)
  })

  it('rejects with a LeaseError unchanged, and with any other error as the cause', async () => {
    const clock = new VirtualClock()
    const typed = new LeaseUnauthorisedError('no')
    await expect(callWithin(rules, clock, 'read', () => Promise.reject(typed))).rejects.toBe(typed)
    const reset = new Error('reset')
    const error: unknown = await callWithin(rules, clock, 'read', () => Promise.reject(reset)).catch((caught) => caught)
    expect(error).toBeInstanceOf(LeaseUnavailableError)
    expect(error).toMatchObject({ cause: reset, leaseName: 'job' })
    const thrown = callWithin(rules, clock, 'read', () => {
      throw reset
    })
    await expect(thrown).rejects.toBeInstanceOf(LeaseError)
    expect(clock.pending).toBe(0)
  })
})
