import {
  LeaseConfigurationError,
  LeaseTimeoutError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { ownLeftover, timedOut, toLeaseError } from '../../src/engine/failures.js'
import { isDefinitive } from '../../src/errors/lease-error.js'
import { rules } from '../support/rules.js'

const details = { leaseName: 'job', owner: 'me', store: 'test' }

describe('the failure of a call', () => {
  it('without an answer says that the outcome is unknown and what to do', () => {
    const error = timedOut(rules, 'renew', 999.6)
    expect(error).toBeInstanceOf(LeaseTimeoutError)
    expect(error).toMatchObject(details)
    expect(error.message).toBe(
      "renew of lease 'job' did not answer within 1000 ms; whether it took effect is unknown: try again, or raise " +
        'operationTimeout if the store is slow',
    )
  })

  it('is the typed error itself, or an error of the store with the cause', () => {
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

  it('is definitive unless its type says that the outcome is unknown, or it has no type', () => {
    const definitive = [new LeaseUnauthorisedError('no'), new LeaseConfigurationError('no')]
    expect(definitive.map(isDefinitive)).toEqual([true, true])
    const unknown = [new LeaseTimeoutError('late'), new LeaseUnavailableError('down'), new Error('x'), { code: 'lost' }]
    expect(unknown.map(isDefinitive)).toEqual([false, false, false, false])
  })

  it('may be an earlier grant of the same owner', () => {
    const error = ownLeftover(rules)
    expect(error).toBeInstanceOf(LeaseUnavailableError)
    expect(error).toMatchObject(details)
    expect(error.message).toBe(
      "lease 'job' is still held by an earlier grant of this owner that the store has not let go yet; try again",
    )
  })
})
