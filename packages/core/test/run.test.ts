import { createLease, LeaseHeldError, LeaseLostError, MemoryLeaseStore, type StoreLease } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { setUp, setUpHeld, silentLogger, TTL, VALIDITY } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

function createInMemory(): { lease: StoreLease; store: MemoryLeaseStore; clock: VirtualClock } {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  return { clock, store, lease: createLease(store, 'job', { clock, logger: silentLogger }) }
}

describe('run', () => {
  it('acquires, passes token and signal to the work, releases, and settles like the work', async () => {
    const { lease } = createInMemory()
    const result = await lease.run(async ({ signal, fencingToken }) => {
      expect(lease.checkLease()).toBe(true)
      expect(signal.aborted).toBe(false)
      expect(fencingToken).toBe(lease.fencingToken)
      return 42
    })
    expect(result).toBe(42)
    expect(lease.state).toBe('idle')
  })

  it('rejects with a LeaseHeldError when another owner holds the name, and does not start the work', async () => {
    const { store, lease } = setUp()
    let began = false
    const run = lease.run(async () => {
      began = true
    })
    store.last('acquire').answer({ granted: false, holder: recordOf() })
    await expect(run).rejects.toBeInstanceOf(LeaseHeldError)
    expect(began).toBe(false)
  })

  it('rejects at once with a LeaseLostError when the lease is lost, even if the work ignores its signal', async () => {
    const { clock, store, lease } = setUp()
    let aborted: unknown
    const run = lease.run(({ signal }) => {
      signal.addEventListener('abort', () => {
        aborted = signal.reason
      })
      return new Promise(() => {})
    })
    store.last('acquire').answer('yes')
    const rejected = expect(run).rejects.toMatchObject({ name: 'LeaseLostError', reason: 'expired', leaseName: 'job' })
    await clock.advance(VALIDITY)
    await rejected
    expect(aborted).toBeInstanceOf(LeaseLostError)
  })

  it('ignores a later rejection of the work after a loss', async () => {
    const { clock, store, lease } = setUp()
    const run = lease.run(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => setImmediate(reject, 'late'))),
    )
    store.last('acquire').answer('yes')
    const rejected = expect(run).rejects.toBeInstanceOf(LeaseLostError)
    await clock.advance(VALIDITY)
    await rejected
    await clock.settle()
  })

  it('rejects with the error of the work, although the release fails too', async () => {
    const { clock, store, lease } = setUp()
    const errors: unknown[] = []
    lease.on('error', (error) => errors.push(error))
    const run = lease.run(async () => {
      throw new Error('work')
    })
    store.last('acquire').answer('yes')
    const rejected = expect(run).rejects.toThrow('work')
    await clock.advance(TTL / 2)
    await rejected
    expect(errors).toMatchObject([{ code: 'timeout' }])
  })

  it('resolves with the result of the work, although the release fails', async () => {
    const { clock, store, lease, events } = setUp()
    const run = lease.run(async () => 'done')
    store.last('acquire').answer('yes')
    await clock.advance(TTL / 2)
    expect(await run).toBe('done')
    expect(events).toContain('error')
  })

  it('rejects when the work throws before it returns a promise', async () => {
    const { lease } = createInMemory()
    const run = lease.run(() => {
      throw new Error('sync')
    })
    await expect(run).rejects.toThrow('sync')
    expect(lease.state).toBe('idle')
  })

  it('does not release a lease that was acquired again after the loss', async () => {
    const { clock, lease } = createInMemory()
    const run = lease.run(() => new Promise(() => {}))
    await clock.settle()
    clock.block(120_000)
    const rejected = expect(run).rejects.toBeInstanceOf(LeaseLostError)
    await clock.settle()
    await rejected
    expect(await lease.acquire()).toBe(true)
    await clock.settle()
    expect(lease.checkLease()).toBe(true)
  })

  it('passes its options to acquire: its own onLost is called too', async () => {
    const { clock, lease } = createInMemory()
    let told = 0
    const run = lease.run(() => new Promise(() => {}), {
      onLost: () => {
        told += 1
      },
    })
    const rejected = expect(run).rejects.toBeInstanceOf(LeaseLostError)
    await clock.settle()
    clock.block(120_000)
    await clock.settle()
    await rejected
    expect(told).toBe(1)
  })
})

describe('signal', () => {
  it('is aborted while nothing is held', () => {
    const { lease } = setUp()
    expect(lease.signal.aborted).toBe(true)
    expect(lease.signal.reason).toBeInstanceOf(LeaseLostError)
  })

  it('is not aborted by a release, and is a new signal for the next grant', async () => {
    const { store, lease } = await setUpHeld()
    const { signal } = lease
    const released = lease.release()
    store.last('release').answer('yes')
    await released
    expect(signal.aborted).toBe(false)
    const acquired = lease.acquire()
    store.last('acquire').answer('yes')
    await acquired
    expect(lease.signal).not.toBe(signal)
    expect(lease.signal).toBe(lease.signal)
  })
})
