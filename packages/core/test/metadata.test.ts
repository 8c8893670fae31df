import { createLease, LeaseConfigurationError, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { beat, INTERVAL, setUp, setUpHeld, silentLogger, TTL } from './support/held-lease.js'

function setUpInMemory() {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const open = (owner: string) => createLease(store, 'job', { owner, clock, logger: silentLogger })
  return { clock, store, one: open('one'), two: open('two') }
}

describe('previous', () => {
  it('is the metadata that the last holder left at its release, and undefined while nothing is held', async () => {
    const { one, two } = setUpInMemory()
    expect(one.previous).toBeUndefined()
    await one.acquire({ metadata: { step: '1' } })
    expect(one.previous).toBeUndefined()
    await one.release({ metadata: { step: '2' } })
    await two.acquire()
    expect(two.previous).toEqual({ step: '2' })
    await two.release()
    expect(two.previous).toBeUndefined()
  })

  it('is the metadata of the adopted lease', async () => {
    const { one, two } = setUpInMemory()
    await one.acquire({ metadata: { step: '1' } })
    await two.adopt(await one.handOff({ owner: 'two' }))
    expect(two.previous).toEqual({ step: '1' })
  })

  it('is found in the record after a lost answer', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId = '' } = store.last('acquire')
    store.last('acquire').fail(new Error('reset'))
    await clock.settle()
    const record = { name: 'job', owner: 'me', grantId, fencingToken: 1n, ttl: TTL, state: 'leased', metadata: {} }
    store.last('read').answer({ ...record, previous: { step: '1' } })
    expect(await acquired).toBe(true)
    expect(lease.previous).toEqual({ step: '1' })
  })

  it('that is invalid makes the answer unknown', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const rejected = expect(acquired).rejects.toMatchObject({ code: 'unavailable' })
    const grant = { name: 'job', owner: 'me', grantId: store.last('acquire').grantId, fencingToken: 1n, ttl: TTL }
    store.last('acquire').answer({ granted: true, grant, previous: { step: 1 } })
    await clock.settle()
    store.last('read').answer(undefined)
    await rejected
  })
})

describe('update', () => {
  it('writes the metadata with a heartbeat, and resolves true', async () => {
    const { clock, one, store } = setUpInMemory()
    await one.acquire({ metadata: { step: '1' } })
    expect(await one.update({ step: '2' })).toBe(true)
    expect((await store.read('job'))?.metadata).toEqual({ step: '2' })
    await clock.settle()
  })

  it('resolves false while nothing is held, and sends nothing', async () => {
    const { lease, store } = setUp()
    expect(await lease.update({ step: '2' })).toBe(false)
    expect(store.calls).toEqual([])
  })

  it('prolongs the validity as a heartbeat does', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(500)
    const before = lease.remaining
    const updated = lease.update({ step: '2' })
    store.last('update').answer('yes')
    expect(await updated).toBe(true)
    expect(lease.remaining).toBeCloseTo(before + 500, 3)
  })

  it('waits for the heartbeat in progress, and follows it at once', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(INTERVAL + 50)
    const heartbeat = store.last('renew')
    const updated = lease.update({ step: '2' })
    expect(store.count('update')).toBe(0)
    heartbeat.answer('yes')
    await clock.settle()
    store.last('update').answer('yes')
    expect(await updated).toBe(true)
  })

  it('is sent one at a time, in order', async () => {
    const { clock, store, lease } = await setUpHeld()
    const updates = [lease.update({ step: '2' }), lease.update({ step: '3' })]
    expect(store.count('update')).toBe(1)
    store.last('update').answer('yes')
    await clock.settle()
    expect(store.count('update')).toBe(2)
    store.last('update').answer('yes')
    expect(await Promise.all(updates)).toEqual([true, true])
  })

  it('is repeated when its outcome is unknown', async () => {
    const { clock, store, lease } = await setUpHeld()
    const updated = lease.update({ step: '2' })
    store.last('update').fail(new Error('reset'))
    await clock.settle()
    expect(lease.state).toBe('jeopardy')
    await clock.advance(INTERVAL)
    expect(store.count('update')).toBeGreaterThan(1)
    store.last('update').answer('yes')
    expect(await updated).toBe(true)
    expect(lease.state).toBe('held')
  })

  it('resolves false when the grant ends first', async () => {
    const { clock, store, lease, losses } = await setUpHeld()
    const updated = lease.update({ step: '2' })
    store.last('update').answer({ renewed: false, reason: 'taken' })
    await clock.settle()
    expect([await updated, losses.map(({ reason }) => reason)]).toEqual([false, ['taken']])
  })

  it('resolves false when the lease is released first', async () => {
    const { store, lease } = await setUpHeld()
    const updated = lease.update({ step: '2' })
    const released = lease.release()
    store.last('release').answer('yes')
    expect([await updated, await released]).toEqual([false, true])
  })

  it('rejects with the error of the store, and the lease stays held', async () => {
    const fixture = await setUpHeld()
    const { clock, store, lease } = fixture
    const error = new LeaseConfigurationError('no room')
    const updated = expect(lease.update({ step: '2' })).rejects.toBe(error)
    store.last('update').fail(error)
    await updated
    await clock.advance(INTERVAL)
    store.last('renew').answer('yes')
    await beat(fixture, TTL)
    expect(lease.checkLease()).toBe(true)
  })

  it('rejects at once over a store that cannot update', async () => {
    const { store, lease } = await setUpHeld()
    Object.assign(store, { update: undefined })
    await expect(lease.update({ step: '2' })).rejects.toThrow('the scripted store cannot update metadata')
    expect(lease.state).toBe('held')
  })

  it.each([
    [{ step: 2 }, 'metadata.step must be a text, not 2'],
    [{ step: 'x'.repeat(5_000) }, 'metadata has 5004 bytes, but a record of this store has room for 4096'],
    [undefined, 'metadata must be an object of texts, not undefined'],
  ])('rejects invalid metadata: %#', async (metadata, message) => {
    const { lease } = await setUpHeld()
    const updated = lease.update(metadata as never)
    await expect(updated).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(updated).rejects.toThrow(message)
  })
})

describe('holder', () => {
  it('is the record of the holder, and undefined when the name is free', async () => {
    const { one, two } = setUpInMemory()
    expect(await two.holder()).toBeUndefined()
    await one.acquire({ metadata: { address: 'a' } })
    expect(await two.holder()).toMatchObject({ owner: 'one', metadata: { address: 'a' } })
    await one.release()
    expect(await two.holder()).toBeUndefined()
  })
})
