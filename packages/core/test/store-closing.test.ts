import { getEventListeners } from 'node:events'
import { createLease, type LeaseLost, LeaseUnavailableError, MemoryLeaseStore } from '@leasehold/core'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger, TTL } from './support/held-lease.js'
import { recordOf, ScriptedStore } from './support/scripted-store.js'

const times = { heartbeatTimeout: TTL, heartbeatInterval: 1_000, operationTimeout: 1_000 }

function setUpClosable() {
  const clock = new VirtualClock()
  const closing = new AbortController()
  const store = Object.assign(new ScriptedStore(), { closed: closing.signal })
  const open = () => createLease(store, 'job', { ...times, owner: 'me', clock, logger: silentLogger })
  return { clock, closing, store, lease: open(), open }
}

describe('closing a store', () => {
  it('ends held leases at once: the reason is "closed", and checkLease is false', async () => {
    const { clock, closing, store, lease } = setUpClosable()
    const losses: LeaseLost[] = []
    const acquired = lease.acquire({ onLost: (lost) => losses.push(lost) })
    store.last('acquire').answer('yes')
    await acquired
    const { signal } = lease
    closing.abort()
    expect(lease.checkLease()).toBe(false)
    expect(signal.aborted).toBe(true)
    expect(losses).toEqual([{ reason: 'closed' }])
    await clock.settle()
  })

  it('leaves no listener on the signal of a caller that comes after it', async () => {
    const { closing, lease } = setUpClosable()
    closing.abort()
    const { signal } = new AbortController()
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await expect(lease.acquire({ signal })).rejects.toBeInstanceOf(LeaseUnavailableError)
    }
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  it('rejects a run in progress with the reason "closed"', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const lease = createLease(store, 'job', { ...times, clock, logger: silentLogger })
    const run = lease.run(() => new Promise(() => {}))
    const rejected = expect(run).rejects.toMatchObject({ name: 'LeaseLostError', reason: 'closed' })
    await clock.settle()
    await store.close()
    await rejected
  })

  it('rejects waiters, with or without a call in progress', async () => {
    const { clock, closing, store, lease, open } = setUpClosable()
    const other = open()
    const waiting = [lease, other].map((each) => each.acquire({ wait: Number.POSITIVE_INFINITY }))
    const rejected = waiting.map((each) =>
      expect(each).rejects.toMatchObject({ code: 'unavailable', leaseName: 'job' }),
    )
    store.last('acquire').answer({ granted: false, holder: recordOf() })
    await clock.settle()
    closing.abort()
    await Promise.all(rejected)
    expect(store.calls.some(({ call }) => call.aborted)).toBe(true)
    await clock.advance(3 * TTL)
    expect(store.calls.length).toBe(2)
    expect(clock.pending).toBe(0)
  })

  it('rejects callers that wait for the release of an earlier grant', async () => {
    const { clock, closing, store, lease } = setUpClosable()
    const acquired = lease.acquire()
    store.last('acquire').answer('yes')
    await acquired
    const released = expect(lease.release()).rejects.toBeInstanceOf(LeaseUnavailableError)
    const again = expect(lease.acquire({ wait: Number.POSITIVE_INFINITY })).rejects.toBeInstanceOf(
      LeaseUnavailableError,
    )
    await clock.settle()
    closing.abort()
    await Promise.all([released, again])
    expect(lease.state).toBe('idle')
  })

  it('rejects later claims at once, without a call', async () => {
    const { closing, store, lease, open } = setUpClosable()
    closing.abort()
    const error = { code: 'unavailable', message: expect.stringContaining('closed') }
    await expect(lease.acquire({ wait: Number.POSITIVE_INFINITY })).rejects.toMatchObject(error)
    await expect(open().acquire()).rejects.toMatchObject(error)
    expect(store.calls).toEqual([])
  })

  it('sends nothing more, and a later release rejects because the grant was not freed', async () => {
    const { clock, closing, store, lease } = setUpClosable()
    const acquired = lease.acquire()
    store.last('acquire').answer('yes')
    await acquired
    closing.abort()
    await clock.settle()
    store.last('release').fail(new LeaseUnavailableError('the store is closed'))
    await clock.advance(3 * TTL)
    expect(store.count('release')).toBe(1)
    const released = expect(lease.release()).rejects.toBeInstanceOf(LeaseUnavailableError)
    store.last('release').fail(new LeaseUnavailableError('the store is closed'))
    await released
  })

  it('does not affect an idle lease', async () => {
    const { closing, store, lease } = setUpClosable()
    const losses: LeaseLost[] = []
    lease.on('lost', (lost) => losses.push(lost))
    const acquired = lease.acquire()
    store.last('acquire').answer('yes')
    await acquired
    const released = lease.release()
    store.last('release').answer('yes')
    await released
    closing.abort()
    expect(losses).toEqual([])
  })
})

describe('the signal of a store that is open', () => {
  const CLIENTS = 30

  async function warningsOf(work: () => Promise<void>): Promise<string[]> {
    const warnings: string[] = []
    const note = ({ name }: Error): void => void warnings.push(name)
    process.on('warning', note)
    await work()
    // Node emits warnings in the next turn.
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', note)
    return warnings
  }

  it('has no listener of a lease that is not held, and one of all leases of a client', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const listeners = (): number => getEventListeners(store.closed, 'abort').length
    const leases = Array.from({ length: CLIENTS }, (_, place) => {
      const childGrace = place % 2 === 0 ? { childGrace: 1_000 } : {}
      return createLease(store, `job ${place}`, { ...times, ...childGrace, clock, logger: silentLogger })
    })
    expect(listeners()).toBe(0)
    for (const lease of leases) await lease.acquire()
    expect(listeners()).toBe(1)
    for (const lease of leases) await lease.release()
    await clock.settle()
    expect(listeners()).toBe(0)
  })

  it('may have many clients, without a warning of a leak', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const losses: LeaseLost[] = []
    const warnings = await warningsOf(async () => {
      for (let place = 0; place < CLIENTS; place += 1) {
        const client = new FaultyStore(store, { clock })
        const lease = createLease(client, `job ${place}`, { ...times, clock, logger: silentLogger })
        await lease.acquire({ onLost: (lost) => losses.push(lost) })
      }
    })
    expect(warnings).toEqual([])
    await store.close()
    expect(losses).toEqual(Array.from({ length: CLIENTS }, () => ({ reason: 'closed' })))
    await clock.settle()
  })
})
