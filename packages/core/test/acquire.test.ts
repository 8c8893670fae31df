import {
  LeaseConfigurationError,
  LeaseTimeoutError,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { ARMED, LIMIT, setUp, setUpHeld, TTL } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

describe('acquire', () => {
  it('resolves true: held now', async () => {
    const { store, lease, events } = setUp()
    const acquired = lease.acquire({ metadata: { version: '7' } })
    expect(lease.state).toBe('acquiring')
    store.last('acquire').answer('yes')
    expect(await acquired).toBe(true)
    expect(lease.state).toBe('held')
    expect(lease.checkLease()).toBe(true)
    expect(lease.fencingToken).toBe(1n)
    expect(events).toEqual(['acquired'])
  })

  it('resolves false: certainly not held', async () => {
    const { clock, store, lease, events } = setUp()
    const acquired = lease.acquire()
    store.last('acquire').answer({ granted: false, holder: recordOf() })
    expect(await acquired).toBe(false)
    expect(lease.state).toBe('idle')
    expect(lease.fencingToken).toBeUndefined()
    await clock.advance(ARMED)
    expect(clock.pending).toBe(0)
    expect(events).toEqual([])
  })

  it('rejects with a LeaseTimeoutError when the store does not answer within the operation timeout', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const rejected = expect(acquired).rejects.toMatchObject({
      code: 'timeout',
      leaseName: 'job',
      owner: 'me',
      store: 'scripted',
    })
    await clock.advance(LIMIT)
    await rejected
    expect(store.calls[0]?.call.aborted).toBe(true)
  })

  it('rejects with what is definitive as it is, and takes nothing back', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire({ wait: TTL })
    const error = new LeaseUnauthorisedError('no')
    store.last('acquire').fail(error)
    await expect(acquired).rejects.toBe(error)
    await clock.advance(TTL)
    expect(store.calls.map(({ method }) => method)).toEqual(['acquire'])
  })

  it('wraps whatever else a store rejects with in a LeaseUnavailableError that keeps the cause', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const cause = new TypeError('fetch failed')
    store.last('acquire').fail(cause)
    await clock.settle()
    store.last('read').fail(new Error('still down'))
    await expect(acquired).rejects.toMatchObject({ code: 'unavailable', cause })
  })

  it('of what this instance holds already is true without a call to the store', async () => {
    const { store, lease } = await setUpHeld()
    const calls = store.calls.length
    expect(await lease.acquire()).toBe(true)
    expect(store.calls.length).toBe(calls)
  })

  it('by several callers at once shares one attempt, and the callback of each counts', async () => {
    const { clock, store, lease } = setUp()
    const told: string[] = []
    const both = [lease.acquire({ onLost: () => told.push('a') }), lease.acquire({ onLost: () => told.push('b') })]
    expect(store.count('acquire')).toBe(1)
    store.last('acquire').answer('yes')
    expect(await Promise.all(both)).toEqual([true, true])
    await lease.acquire({ onLost: () => told.push('c') })
    await clock.advance(TTL)
    expect(told).toEqual(['a', 'b', 'c'])
  })

  it('during a release waits for the release', async () => {
    const { clock, store, lease } = await setUpHeld()
    const released = lease.release()
    const acquired = lease.acquire()
    await clock.settle()
    expect(store.count('acquire')).toBe(1)
    store.last('release').answer('yes')
    expect(await released).toBe(true)
    await clock.settle()
    store.last('acquire').answer('yes')
    expect(await acquired).toBe(true)
    expect(lease.fencingToken).toBe(2n)
  })

  it('after a loss begins anew, with a larger fencing token', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(TTL)
    const acquired = lease.acquire()
    await clock.settle()
    store.calls.find(({ method }) => method === 'release')?.answer('yes')
    await clock.settle()
    store.last('acquire').answer('yes')
    expect(await acquired).toBe(true)
    expect(lease.fencingToken).toBe(2n)
  })

  it('tells the loss before it begins anew where the validity ran out and no timer has run yet', async () => {
    const { clock, store, lease, losses } = await setUpHeld()
    clock.block(TTL)
    const acquired = lease.acquire()
    expect(losses).toEqual([])
    await clock.settle()
    expect(losses).toMatchObject([{ reason: 'expired' }])
    store.calls.find(({ method }) => method === 'release')?.answer('yes')
    await clock.settle()
    store.last('acquire').answer('yes')
    expect(await acquired).toBe(true)
  })

  it('is refused by our own earlier grant as unavailable, not as held by someone else', async () => {
    const { clock, store, lease } = await setUpHeld()
    const lost = store.calls[0]?.grantId ?? ''
    await clock.advance(TTL)
    store.last('release').fail(new Error('down'))
    await clock.settle()
    const acquired = lease.acquire()
    store.last('release').fail(new Error('down'))
    await clock.settle()
    store.last('acquire').answer({ granted: false, holder: recordOf({ owner: 'me', grantId: lost }) })
    await expect(acquired).rejects.toBeInstanceOf(LeaseUnavailableError)
  })

  it.each([-1, Number.NaN, '5' as never])('refuses to wait for %s', async (wait) => {
    const { lease } = setUp()
    await expect(lease.acquire({ wait })).rejects.toBeInstanceOf(LeaseConfigurationError)
  })

  it('survives a store that throws instead of rejecting', async () => {
    const { clock, store, lease } = setUp()
    store.acquire = () => {
      throw new Error('not a promise')
    }
    const acquired = lease.acquire()
    await clock.settle()
    store.last('read').answer(undefined)
    await expect(acquired).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('of a closed lease rejects', async () => {
    const { lease } = setUp()
    await lease.close()
    await expect(lease.acquire()).rejects.toBeInstanceOf(LeaseUnavailableError)
  })
})

describe('acquire, cancelled by its signal', () => {
  it('rejects with the reason, at once where it is aborted already', async () => {
    const { store, lease } = setUp()
    await expect(lease.acquire({ signal: AbortSignal.abort('why') })).rejects.toBe('why')
    expect(store.calls).toEqual([])
  })

  it('ends the call and takes back what may have been granted', async () => {
    const { clock, store, lease } = setUp()
    const controller = new AbortController()
    const acquired = lease.acquire({ signal: controller.signal })
    const call = store.last('acquire')
    controller.abort('enough')
    await expect(acquired).rejects.toBe('enough')
    expect(call.call.aborted).toBe(true)
    call.answer('yes')
    await clock.settle()
    expect(store.calls.some(({ method, grantId }) => method === 'release' && grantId === call.grantId)).toBe(true)
    expect(lease.checkLease()).toBe(false)
  })

  it('lets the others go on', async () => {
    const { store, lease } = setUp()
    const controller = new AbortController()
    const cancelled = lease.acquire({ signal: controller.signal })
    const other = lease.acquire()
    controller.abort('enough')
    await expect(cancelled).rejects.toBe('enough')
    store.last('acquire').answer('yes')
    expect(await other).toBe(true)
  })

  it('never ends a lease that is already held', async () => {
    const { clock, store, lease, losses } = setUp()
    const controller = new AbortController()
    const acquired = lease.acquire({ signal: controller.signal })
    store.last('acquire').answer('yes')
    await acquired
    controller.abort()
    await clock.settle()
    expect(lease.checkLease()).toBe(true)
    expect(losses).toEqual([])
  })

  it('is of a timed-out attempt no second error', async () => {
    const { clock, lease } = setUp()
    const controller = new AbortController()
    const rejected = expect(lease.acquire({ signal: controller.signal })).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await rejected
    controller.abort()
  })
})
