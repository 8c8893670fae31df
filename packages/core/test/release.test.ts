import { LeaseError, LeaseTimeoutError, LeaseUnauthorisedError, LeaseUnavailableError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { ARMED, INTERVAL, LIMIT, setUp, setUpHeld, TTL } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

describe('release', () => {
  it('ends validity at once, before the store has answered', async () => {
    const { store, lease, events } = await setUpHeld()
    const released = lease.release()
    expect(lease.checkLease()).toBe(false)
    expect(lease.remaining).toBe(0)
    expect(lease.fencingToken).toBeUndefined()
    expect(lease.state).toBe('releasing')
    store.last('release').answer('yes')
    expect(await released).toBe(true)
    expect(events).toEqual(['acquired', 'released'])
  })

  it('resolves false when another owner holds the name', async () => {
    const { store, lease } = await setUpHeld()
    const released = lease.release()
    store.last('release').answer({ released: false, holder: recordOf() })
    expect(await released).toBe(false)
  })

  it('resolves true when the name is free: the claim is gone', async () => {
    const { store, lease } = await setUpHeld()
    const released = lease.release()
    store.last('release').answer({ released: false })
    expect(await released).toBe(true)
  })

  it('resolves true without a call to the store when nothing is held', async () => {
    const { store, lease } = setUp()
    expect(await lease.release()).toBe(true)
    expect(store.calls).toEqual([])
  })

  it('sends one request when called twice', async () => {
    const { store, lease } = await setUpHeld()
    const both = [lease.release(), lease.release()]
    store.last('release').answer('yes')
    expect(await Promise.all(both)).toEqual([true, true])
    expect(store.count('release')).toBe(1)
  })

  it('aborts the heartbeat in flight and ignores its late answer', async () => {
    const { clock, store, lease, losses } = await setUpHeld()
    await clock.advance(INTERVAL)
    const heartbeat = store.last('renew')
    const released = lease.release()
    expect(heartbeat.call.aborted).toBe(true)
    heartbeat.answer('yes')
    await clock.settle()
    expect(lease.checkLease()).toBe(false)
    store.last('release').answer('yes')
    expect(await released).toBe(true)
    expect(losses).toEqual([])
  })

  it('calls no onLost, although the store reports that the lease was taken', async () => {
    const { clock, store, lease, losses, events } = await setUpHeld()
    const released = lease.release()
    store.last('release').answer({ released: false, holder: recordOf() })
    await released
    await clock.advance(2 * TTL)
    expect(losses).toEqual([])
    expect(events).not.toContain('lost')
  })

  it('calls no onLost, although the validity had ended without a notification', async () => {
    const { clock, store, lease, losses } = await setUpHeld()
    clock.block(TTL)
    const released = lease.release()
    await clock.settle()
    store.last('release').answer({ released: false })
    expect(await released).toBe(true)
    expect(losses).toEqual([])
  })

  it('resolves true after a loss: there is no claim', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(INTERVAL)
    store.last('renew').answer({ renewed: false, reason: 'taken' })
    await clock.settle()
    expect(await lease.release()).toBe(true)
    expect(store.count('release')).toBe(0)
  })

  it('is repeated within its time limit when the store fails', async () => {
    const { clock, store, lease } = await setUpHeld()
    const released = lease.release()
    store.last('release').fail(new Error('reset'))
    await clock.advance(LIMIT / 2)
    store.last('release').answer('yes')
    expect(await released).toBe(true)
    expect(store.count('release')).toBe(2)
  })

  it('rejects when the outcome is unknown, and continues in the background', async () => {
    const { clock, store, lease } = await setUpHeld()
    const rejected = expect(lease.release()).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(ARMED + LIMIT)
    await rejected
    expect(lease.state).toBe('idle')
    await clock.advance(LIMIT)
    expect(store.count('release')).toBeGreaterThanOrEqual(2)
    expect(new Set(store.calls.map(({ grantId }) => grantId)).size).toBe(1)
    const again = lease.release()
    for (const call of store.calls) call.answer('yes')
    expect(await again).toBe(true)
    await clock.advance(10 * TTL)
    expect(clock.pending).toBe(0)
  })

  it('rejects with a definitive error unchanged', async () => {
    const { store, lease } = await setUpHeld()
    const released = lease.release()
    const error = new LeaseUnauthorisedError('no')
    store.last('release').fail(error)
    await expect(released).rejects.toBe(error)
  })

  it('while acquiring cancels the claim, which resolves false after a possible grant is released', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId } = store.last('acquire')
    const order: string[] = []
    void acquired.then((granted) => order.push(`acquired ${granted}`))
    const released = lease.release().then((gone) => order.push(`released ${gone}`))
    await clock.settle()
    expect(order).toEqual([])
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '' }))
    await clock.settle()
    store.last('release').answer('yes')
    await released
    expect(order).toEqual(['acquired false', 'released true'])
  })

  it('while acquiring rejects with a typed error for every failure of the store, and so does the claim', async () => {
    const { clock, store, lease } = setUp()
    const refused = expect(lease.acquire()).rejects.toBeInstanceOf(LeaseUnavailableError)
    const rejected = expect(lease.release()).rejects.toMatchObject({ code: 'unavailable', leaseName: 'job' })
    await clock.settle()
    store.last('read').fail(new Error('connection refused'))
    await rejected
    await refused
  })

  it('rejects each call while a claim waits and the store hangs, without unhandled rejections', async () => {
    const unhandled: unknown[] = []
    const listener = (error: unknown): void => void unhandled.push(error)
    process.on('unhandledRejection', listener)
    const { clock, store, lease } = setUp()
    // A request with an unknown outcome, which still needs a cleanup when the lease is held again.
    const first = expect(lease.acquire()).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await first
    const held = lease.acquire()
    await clock.advance(LIMIT)
    store.last('acquire').answer('yes')
    expect(await held).toBe(true)
    const endings = [lease.release(), lease.acquire(), lease.release()]
    const outcomes = Promise.allSettled(endings)
    await clock.advance(4 * LIMIT)
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
    await new Promise((resolve) => setImmediate(resolve))
    process.off('unhandledRejection', listener)
    expect(unhandled).toEqual([])
  })

  it('leaves no timer behind when it fails, also after many calls', async () => {
    const { clock, store, lease } = await setUpHeld()
    const ending = async (released: Promise<boolean>): Promise<void> => {
      const rejected = expect(released).rejects.toBeInstanceOf(LeaseError)
      await clock.settle()
      for (const call of store.calls) call.fail(new Error('connection refused'))
      await clock.advance(LIMIT)
      await rejected
    }
    for (let times = 0; times < 8; times += 1) await ending(lease.release())
    await clock.advance(TTL)
    expect(clock.pending).toBe(0)
  })

  it('leaves no timer behind', async () => {
    const { clock, store, lease } = await setUpHeld()
    expect(clock.pending).toBe(1)
    const released = lease.release()
    store.last('release').answer('yes')
    await released
    await clock.advance(ARMED)
    expect(clock.pending).toBe(0)
  })

  it('ends an `await using` block', async () => {
    const { store, lease } = await setUpHeld()
    const block = (async () => {
      await using held = lease
      return held.checkLease()
    })()
    await Promise.resolve()
    store.last('release').answer('yes')
    expect(await block).toBe(true)
    expect(lease.state).toBe('idle')
  })
})
