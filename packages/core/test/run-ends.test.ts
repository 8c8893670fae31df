import { LeaseLostError, type StoreHeld } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { setUp } from './support/held-lease.js'
import { pendingWork, setUpInMemory } from './support/runs.js'

describe('a release() during a run', () => {
  it('aborts the run with the reason "released", and calls no onLost', async () => {
    const { clock, lease, other } = setUpInMemory()
    const work = pendingWork()
    let told = 0
    const run = lease.run(work.work, { onLost: () => (told += 1) })
    const rejected = expect(run).rejects.toMatchObject({ name: 'LeaseLostError', reason: 'released', owner: 'me' })
    await clock.settle()
    expect(await lease.release()).toBe(true)
    await rejected
    expect(work.started[0]?.signal.reason).toBeInstanceOf(LeaseLostError)
    expect(told).toBe(0)
    expect(await other.acquire()).toBe(true)
  })

  it('ends a run that still waits for its grant in the same way, and its work never starts', async () => {
    const { clock, lease, other } = setUpInMemory()
    await other.acquire()
    const work = pendingWork()
    const run = lease.run(work.work, { wait: Number.POSITIVE_INFINITY })
    const rejected = expect(run).rejects.toMatchObject({ name: 'LeaseLostError', reason: 'released' })
    await clock.settle()
    await lease.release()
    await rejected
    await other.release()
    await clock.settle()
    expect(work.started).toEqual([])
    expect(await other.acquire()).toBe(true)
  })

  it('between the grant and the first step of the work keeps the work from starting', async () => {
    const { store, lease } = setUp()
    const work = pendingWork()
    const run = lease.run(work.work)
    const rejected = expect(run).rejects.toMatchObject({ reason: 'released' })
    lease.on('acquired', () => void lease.release())
    store.last('acquire').answer('yes')
    await Promise.resolve()
    await rejected
    expect(work.started).toEqual([])
  })

  it('does not affect the next run', async () => {
    const { clock, lease } = setUpInMemory()
    const first = lease.run(pendingWork().work)
    const second = pendingWork()
    const secondRun = lease.run(second.work, { wait: Number.POSITIVE_INFINITY })
    const rejected = expect(first).rejects.toMatchObject({ reason: 'released' })
    await lease.release()
    await rejected
    await clock.settle()
    second.end('second')
    expect(await secondRun).toBe('second')
  })
})

describe('a hand-off during a run', () => {
  it('ends the run with the reason "released" if it comes from outside the work', async () => {
    const { clock, lease, other } = setUpInMemory()
    const run = lease.run(pendingWork().work)
    const rejected = expect(run).rejects.toMatchObject({ name: 'LeaseLostError', reason: 'released' })
    await clock.settle()
    expect(await other.adopt(await lease.handOff({ owner: 'other' }))).toBe(true)
    await rejected
    expect(other.checkLease()).toBe(true)
  })

  it('by the work itself does not end the run: the run settles like the work', async () => {
    const { lease, other } = setUpInMemory()
    const handOff = await lease.run(() => lease.handOff({ owner: 'other' }))
    expect(await other.adopt(handOff)).toBe(true)
    expect(other.checkLease()).toBe(true)
  })
})

describe('a run that has ended', () => {
  it('does not free a later grant of the same object', async () => {
    const { clock, lease, other } = setUpInMemory()
    const run = lease.run(() => new Promise(() => {}))
    const rejected = expect(run).rejects.toBeInstanceOf(LeaseLostError)
    await clock.settle()
    const released = lease.release()
    const acquired = lease.acquire()
    await rejected
    expect(await Promise.all([released, acquired])).toEqual([true, true])
    await clock.settle()
    expect(lease.checkLease()).toBe(true)
    expect(await other.acquire()).toBe(false)
  })

  it('does not free a grant that was acquired during the loss', async () => {
    const { clock, store, lease, other } = setUpInMemory()
    let again: Promise<boolean> | undefined
    const run = lease.run(() => new Promise(() => {}), {
      onLost: () => {
        again = lease.acquire()
      },
    })
    const rejected = expect(run).rejects.toMatchObject({ reason: 'broken' })
    await clock.settle()
    await store.break('job', { period: 0 })
    await clock.advance(60_000)
    await rejected
    expect(await again).toBe(true)
    expect(lease.checkLease()).toBe(true)
    expect(await other.acquire()).toBe(false)
  })

  it('does not abandon a claim that was started during the loss', async () => {
    const { clock, store, lease, other } = setUpInMemory()
    let again: Promise<boolean> | undefined
    const run = lease.run(() => new Promise(() => {}), {
      onLost: () => {
        again = lease.acquire({ wait: Number.POSITIVE_INFINITY })
      },
    })
    const rejected = expect(run).rejects.toMatchObject({ name: 'LeaseLostError' })
    await clock.settle()
    await store.break('job', { period: 0 })
    expect(await other.acquire()).toBe(true)
    await clock.advance(60_000)
    await rejected
    await other.release()
    await clock.settle()
    expect(await again).toBe(true)
    expect(lease.checkLease()).toBe(true)
  })

  it('does not free a later grant, although its work ends after it', async () => {
    const { clock, store, lease, other } = setUpInMemory()
    const work = pendingWork()
    const run = lease.run(work.work)
    const rejected = expect(run).rejects.toMatchObject({ reason: 'broken' })
    await clock.settle()
    await store.break('job', { period: 0 })
    await clock.advance(60_000)
    await rejected
    expect(await lease.acquire()).toBe(true)
    work.end('late')
    await clock.settle()
    expect(lease.checkLease()).toBe(true)
    expect(await other.acquire()).toBe(false)
  })

  it('leaves a lease to its work that is not valid any more, also under a later grant', async () => {
    const { clock, lease } = setUpInMemory()
    for (const endsEarly of [false, true]) {
      let kept: StoreHeld | undefined
      const run = lease.run(async (held) => {
        kept = held
        expect(held.checkLease()).toBe(true)
        expect(held.validUntil).toBe(lease.validUntil)
        if (endsEarly) await lease.release()
      })
      await run.catch(() => {})
      expect(await lease.acquire()).toBe(true)
      expect([kept?.checkLease(), kept?.validUntil]).toEqual([false, 0])
      expect(lease.validUntil).toBeGreaterThan(clock.now())
      await lease.release()
      expect(lease.validUntil).toBe(0)
    }
  })
})

describe('work that ends after a pause of the process', () => {
  it('is rejected if the validity was over before, although the loss was not noticed yet', async () => {
    const { clock, lease } = setUpInMemory()
    const work = pendingWork()
    const run = lease.run(work.work)
    const rejected = expect(run).rejects.toMatchObject({ name: 'LeaseLostError', reason: 'expired', owner: 'me' })
    await clock.settle()
    // Its answer is handled before the timers.
    clock.block(lease.settings.timeouts.heartbeatTimeout)
    work.end('late')
    await rejected
    expect(work.started[0]?.signal.reason).toBeInstanceOf(LeaseLostError)
  })

  it('is done if the lease is still valid', async () => {
    const { clock, lease } = setUpInMemory()
    const work = pendingWork()
    const run = lease.run(work.work)
    await clock.settle()
    clock.block(lease.remaining / 2)
    work.end('in time')
    expect(await run).toBe('in time')
  })

  it('is done if it has handed the lease over itself', async () => {
    const { lease } = setUpInMemory()
    const run = lease.run(async () => {
      await lease.handOff()
      return 'handed over'
    })
    expect(await run).toBe('handed over')
  })
})
