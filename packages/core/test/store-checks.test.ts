import { LeaseConfigurationError, LeaseNameError, LeaseUnavailableError } from '@leasehold/core'
import { AbortableCall, StoreChecks } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'

const limits = { minTtl: 100, maxTtl: 1_000, infinite: false, ordered: false, metadata: 10 }
const request = { name: 'job', owner: 'me', grantId: 'g', ttl: 500 }
const grant = { ...request, fencingToken: 1n }

describe('the checks of a store', () => {
  it('let valid operations pass', () => {
    const checks = new StoreChecks('test', limits)
    const call = new AbortableCall()
    checks.acquire({ ...request, metadata: { a: '1' } }, call)
    checks.grant(grant, call, { a: '1' })
    checks.change(grant, { owner: 'you' }, call)
    checks.break('job', { period: 0 }, call)
    checks.name('job', call)
    new StoreChecks('test', { ...limits, infinite: true }).acquire({ ...request, ttl: Number.POSITIVE_INFINITY })
  })

  it.each([99, 1_001, Number.NaN, Number.POSITIVE_INFINITY])('reject a ttl of %d', (ttl) => {
    const checks = new StoreChecks('test', limits)
    for (const check of [() => checks.acquire({ ...request, ttl }), () => checks.grant({ ...grant, ttl })]) {
      expect(check).toThrow(LeaseConfigurationError)
      expect(check).toThrow('the ttl must be 100 to 1000 ms, not')
    }
  })

  it('reject names, owners, periods and metadata that are not valid', () => {
    const checks = new StoreChecks('test', limits)
    expect(() => checks.name('')).toThrow(LeaseNameError)
    expect(() => checks.acquire({ ...request, owner: '' })).toThrow(LeaseNameError)
    expect(() => checks.change(grant, { owner: '' })).toThrow(LeaseNameError)
    expect(() => checks.break('job', { period: -1 })).toThrow(LeaseConfigurationError)
    expect(() => checks.grant(grant, undefined, { key: '12345678' })).toThrow('metadata has 11 bytes')
    const none = new StoreChecks('test', { ...limits, metadata: 0 })
    expect(() => none.acquire({ ...request, metadata: { a: '1' } })).toThrow('have no room for it: leave it out')
    none.acquire({ ...request, metadata: {} })
  })

  it('let a grant be released whose ttl is not known', () => {
    new StoreChecks('test', limits).release({ ...grant, ttl: Number.NaN })
  })

  it('reject a call that was aborted, with its reason', () => {
    const call = new AbortableCall()
    const reason = new Error('enough')
    call.abort(reason)
    expect(() => new StoreChecks('test', limits).name('job', call)).toThrow(reason)
  })

  it('reject everything once the store is closed, which is announced once', () => {
    const checks = new StoreChecks('test', limits)
    expect(checks.closed.aborted).toBe(false)
    expect([checks.close(), checks.close()]).toEqual([true, false])
    expect(checks.closed.aborted).toBe(true)
    expect(() => checks.usable()).toThrow(LeaseUnavailableError)
    expect(() => checks.acquire(request)).toThrow('the test store is closed: open a new one')
  })
})
