import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { INTERVAL, LIMIT, setUp, setUpHeld, silentLogger, TTL, VALIDITY } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

const manual = { strategy: 'manual' } as const

describe('renew', () => {
  it('restarts the validity from when it was sent, and resolves true', async () => {
    const { clock, store, lease } = await setUpHeld(manual)
    await clock.advance(4_000)
    const renewed = lease.renew()
    await clock.advance(300)
    store.last('renew').answer('yes')
    expect(await renewed).toBe(true)
    expect(lease.remaining).toBe(VALIDITY - 300)
  })

  it('with any strategy renews now, and the next heartbeat is counted from then', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(INTERVAL / 2)
    const renewed = lease.renew()
    store.last('renew').answer('yes')
    expect(await renewed).toBe(true)
    await clock.advance(INTERVAL * 0.8)
    expect(store.count('renew')).toBe(1)
    await clock.advance(INTERVAL * 0.3)
    expect(store.count('renew')).toBe(2)
  })

  it('shares one operation among concurrent calls', async () => {
    const { store, lease } = await setUpHeld(manual)
    const all = [lease.renew(), lease.renew(), lease.renew()]
    expect(store.count('renew')).toBe(1)
    store.last('renew').answer('yes')
    expect(await Promise.all(all)).toEqual([true, true, true])
  })

  it('shares the heartbeat that is under way', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(INTERVAL)
    expect(store.count('renew')).toBe(1)
    const renewed = lease.renew()
    expect(store.count('renew')).toBe(1)
    store.last('renew').answer('yes')
    expect(await renewed).toBe(true)
  })

  it('shares an update of the metadata that is under way', async () => {
    const { store, lease } = await setUpHeld(manual)
    const updated = lease.update({ step: '1' })
    const renewed = lease.renew()
    expect(store.count('renew')).toBe(0)
    store.last('update').answer('yes')
    expect(await Promise.all([updated, renewed])).toEqual([true, true])
  })

  it('resolves false when the grant is certainly lost, after onLost', async () => {
    const { store, lease, losses } = await setUpHeld(manual)
    const renewed = lease.renew().then((value) => [value, losses.length])
    store.last('renew').answer({ renewed: false, reason: 'taken', holder: recordOf() })
    expect(await renewed).toEqual([false, 1])
    expect(losses).toEqual([{ reason: 'taken', owner: 'other' }])
  })

  it('resolves false when the validity is over, though no timer has run, and sends nothing', async () => {
    const { clock, store, lease, losses } = await setUpHeld(manual)
    clock.block(TTL)
    expect(await lease.renew()).toBe(false)
    expect(store.count('renew')).toBe(0)
    expect(losses.map(({ reason }) => reason)).toEqual(['expired'])
  })

  it('resolves false when the validity ends before the answer', async () => {
    const { clock, lease, store } = await setUpHeld({ ...manual, operationTimeout: TTL - 1 })
    await clock.advance(VALIDITY - 100)
    const renewed = lease.renew()
    expect(store.count('renew')).toBe(1)
    await clock.advance(200)
    expect(await renewed).toBe(false)
  })

  it('resolves false on a lease that is not held, and when a release is asked for first', async () => {
    const { lease } = setUp(manual)
    expect(await lease.renew()).toBe(false)
    const held = await setUpHeld(manual)
    const renewed = held.lease.renew()
    void held.lease.release()
    held.store.last('release').answer('yes')
    expect(await renewed).toBe(false)
  })

  it('rejects with a typed error when the outcome is unknown; the lease stays held while it is valid', async () => {
    const { clock, store, lease, losses } = await setUpHeld(manual)
    const late = expect(lease.renew()).rejects.toMatchObject({ code: 'timeout', leaseName: 'job', owner: 'me' })
    await clock.advance(LIMIT + 60)
    await late
    const failed = expect(lease.renew()).rejects.toMatchObject({ code: 'unavailable' })
    store.last('renew').fail(new Error('ECONNRESET'))
    await failed
    expect(lease.checkLease()).toBe(true)
    const renewed = lease.renew()
    store.last('renew').answer('yes')
    expect(await renewed).toBe(true)
    expect(lease.state).toBe('held')
    expect(losses).toEqual([])
  })
})

describe('the manual strategy', () => {
  it('sends no heartbeat by itself, and the validity ends as expired', async () => {
    const { clock, store, losses } = await setUpHeld(manual)
    await clock.advance(VALIDITY - 1)
    expect(store.count('renew')).toBe(0)
    expect(losses).toEqual([])
    await clock.advance(100)
    expect(losses).toEqual([{ reason: 'expired' }])
  })

  it('does not repeat a renewal that failed, but an update', async () => {
    const { clock, store, lease } = await setUpHeld(manual)
    const failed = expect(lease.renew()).rejects.toThrow()
    store.last('renew').fail(new Error('ECONNRESET'))
    await failed
    await clock.advance(2_000)
    expect(store.count('renew')).toBe(1)
    const updated = lease.update({ step: '1' })
    store.last('update').fail(new Error('ECONNRESET'))
    await clock.advance(500)
    expect(store.count('update')).toBe(2)
    store.last('update').answer('yes')
    expect(await updated).toBe(true)
  })

  it('only looks at a record that another program may have changed', async () => {
    const { clock, store, lease, losses } = await setUpHeldWatching()
    store.change()
    await clock.settle()
    store.store.last('read').answer(recordOf({ owner: 'me', grantId: store.grantId(), fencingToken: 1n }))
    await clock.settle()
    expect(lease.remaining).toBe(VALIDITY)
    store.change()
    await clock.settle()
    store.store.last('read').answer(recordOf({ owner: 'me', grantId: store.grantId(), state: 'breaking' }))
    await clock.settle()
    expect(losses).toEqual([{ reason: 'broken' }])
    expect(store.store.count('renew')).toBe(0)
  })

  it('such a look frees the name where another program removed its owner', async () => {
    const { clock, store, losses } = await setUpHeldWatching()
    store.change()
    await clock.settle()
    const grantId = store.grantId()
    store.store.last('read').answer(recordOf({ owner: grantId, grantId, state: 'breaking' }))
    await clock.settle()
    expect(losses).toEqual([{ reason: 'taken' }])
    expect(store.store.last('release').grantId).toBe(grantId)
  })

  it.each([
    ['deleted', undefined, { reason: 'deleted' }],
    ['taken', recordOf(), { reason: 'taken', owner: 'other' }],
  ])('such a look finds the record %s', async (_, record, lost) => {
    const { clock, store, losses } = await setUpHeldWatching()
    store.change()
    await clock.settle()
    store.store.last('read').answer(record)
    await clock.settle()
    expect(losses).toEqual([lost])
  })

  it('a look that fails or hangs costs nothing, and a renewal does not wait for it', async () => {
    const { clock, store, lease, losses } = await setUpHeldWatching()
    store.change()
    await clock.settle()
    store.store.last('read').fail(new Error('ECONNRESET'))
    await clock.settle()
    store.change()
    await clock.settle()
    expect(store.store.count('read')).toBe(2)
    await clock.advance(LIMIT + 60)
    store.change()
    await clock.settle()
    const renewed = lease.renew()
    store.store.last('renew').answer('yes')
    expect(await renewed).toBe(true)
    expect(lease.state).toBe('held')
    expect(losses).toEqual([])
  })

  it('keeps a session over a real store for as long as there is activity', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const open = () => createLease(store, 'session', { ...manual, heartbeatTimeout: TTL, clock, logger: silentLogger })
    const [session, other] = [open(), open()]
    await session.acquire()
    for (let activity = 0; activity < 5; activity += 1) {
      await clock.advance(TTL * 0.8)
      const renewed = session.renew()
      await clock.advance(1)
      expect(await renewed).toBe(true)
    }
    expect(await other.acquire()).toBe(false)
    await clock.advance(TTL)
    expect(session.checkLease()).toBe(false)
    expect(await other.acquire()).toBe(true)
  })
})

/** A held lease with the manual strategy, over a store that notices changes of the record. */
async function setUpHeldWatching() {
  const fixture = setUp(manual)
  let wake = (): void => {}
  const watchGrant = async function* (): AsyncGenerator<unknown> {
    for (;;) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
      yield undefined
    }
  }
  Object.assign(fixture.store, { watchGrant })
  const acquired = fixture.lease.acquire({ onLost: (lost) => fixture.losses.push(lost) })
  const { grantId = '' } = fixture.store.last('acquire')
  fixture.store.last('acquire').answer('yes')
  await acquired
  await fixture.clock.settle()
  return { ...fixture, store: { store: fixture.store, change: () => wake(), grantId: () => grantId } }
}
