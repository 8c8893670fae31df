import {
  LeaseConfigurationError,
  LeaseTimeoutError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { isDefinitive, ownLeftover, timedOut, toLeaseError } from '../../src/engine/failures.js'
import { rules } from '../support/rules.js'

const details = { leaseName: 'job', owner: 'me', store: 'test' }

describe('the failure of a call', () => {
  it('that did not answer says what is unknown, and what to do', () => {
    const error = timedOut(rules, 'renew', 999.6)
    expect(error).toBeInstanceOf(LeaseTimeoutError)
    expect(error).toMatchObject(details)
    expect(error.message).toBe(
      "renew of lease 'job' did not answer within 1000 ms; whether it took effect is unknown: try again, or raise " +
        'operationTimeout if the store is slow',
    )
  })

  it('is a typed error as it is, and else an error of the store that keeps its cause', () => {
    const typed = new LeaseUnauthorisedError('no')
    expect(toLeaseError(rules, 'renew', typed)).toBe(typed)
    for (const [cause, message] of [
      [new TypeError('fetch failed'), "renew of lease 'job' failed: fetch failed"],
      ['down', "renew of lease 'job' failed: down"],
    ] as const) {
      const error = toLeaseError(rules, 'renew', cause)
      expect(error).toBeInstanceOf(LeaseUnavailableError)
      expect(error).toMatchObject({ ...details, cause, message })
    }
  })

  it('is definitive unless it says that the outcome is unknown, or is of no type', () => {
    const definitive = [new LeaseUnauthorisedError('no'), new LeaseConfigurationError('no')]
    expect(definitive.map(isDefinitive)).toEqual([true, true])
    const unknown = [new LeaseTimeoutError('late'), new LeaseUnavailableError('down'), new Error('x'), { code: 'lost' }]
    expect(unknown.map(isDefinitive)).toEqual([false, false, false, false])
  })

  it('may be that an earlier grant of the same owner is in the way', () => {
    const error = ownLeftover(rules)
    expect(error).toBeInstanceOf(LeaseUnavailableError)
    expect(error).toMatchObject(details)
    expect(error.message).toBe(
      "lease 'job' is still held by an earlier grant of this owner that the store has not let go yet; try again",
    )
  })
})
