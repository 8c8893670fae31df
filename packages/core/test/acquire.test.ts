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

  it('rejects with a definitive error unchanged, and releases nothing', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire({ wait: TTL })
    const error = new LeaseUnauthorisedError('no')
    store.last('acquire').fail(error)
    await expect(acquired).rejects.toBe(error)
    await clock.advance(TTL)
    expect(store.calls.map(({ method }) => method)).toEqual(['acquire'])
  })

  it('wraps any other error of the store in a LeaseUnavailableError with the cause', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const cause = new TypeError('fetch failed')
    store.last('acquire').fail(cause)
    await clock.settle()
    store.last('read').fail(new Error('still down'))
    await expect(acquired).rejects.toMatchObject({ code: 'unavailable', cause })
  })

  it('resolves true without a call to the store if this instance holds the lease', async () => {
    const { store, lease } = await setUpHeld()
    const calls = store.calls.length
    expect(await lease.acquire()).toBe(true)
    expect(store.calls.length).toBe(calls)
  })

  it('shares one attempt between concurrent callers, and calls the onLost of each', async () => {
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

  it('waits for a release in progress', async () => {
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

  it('starts again after a loss, with a larger fencing token', async () => {
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

  it('reports the loss before it starts again, if the validity ended before any timer has run', async () => {
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

  it('rejects as unavailable, not as held, if our own earlier grant is in the way', async () => {
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

  it.each([-1, Number.NaN, '5' as never])('rejects a wait of %s', async (wait) => {
    const { lease } = setUp()
    await expect(lease.acquire({ wait })).rejects.toBeInstanceOf(LeaseConfigurationError)
  })

  it('accepts a store that throws instead of rejecting', async () => {
    const { clock, store, lease } = setUp()
    store.acquire = () => {
      throw new Error('not a promise')
    }
    const acquired = lease.acquire()
    await clock.settle()
    store.last('read').answer(undefined)
    await expect(acquired).rejects.toMatchObject({ code: 'unavailable' })
  })

  it('rejects when the lease is closed', async () => {
    const { lease } = setUp()
    await lease.close()
    await expect(lease.acquire()).rejects.toBeInstanceOf(LeaseUnavailableError)
  })
})

describe('acquire, cancelled by its signal', () => {
  it('rejects with the reason, at once if it is already aborted', async () => {
    const { store, lease } = setUp()
    await expect(lease.acquire({ signal: AbortSignal.abort('why') })).rejects.toBe('why')
    expect(store.calls).toEqual([])
  })

  it('aborts the call and releases a possible grant', async () => {
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

  it('lets the other callers continue', async () => {
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

  it('adds no second error to a timed-out attempt', async () => {
    const { clock, lease } = setUp()
    const controller = new AbortController()
    const rejected = expect(lease.acquire({ signal: controller.signal })).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await rejected
    controller.abort()
  })
})
