import { createLease, type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger, TTL } from './support/held-lease.js'

const times = { heartbeatTimeout: TTL, heartbeatInterval: 1_000, operationTimeout: 1_000 }
const LIMIT = 1_000
const SECONDS = 1_000

/** A store in memory that counts its calls. Its first request hangs until the test delivers it. */
function setUp() {
  const clock = new VirtualClock()
  const memory = new MemoryLeaseStore({ clock })
  const sent: string[] = []
  const hung: Parameters<LeaseStore['acquire']>[0][] = []
  const counted = <T>(method: string, call: () => T): T => {
    sent.push(method)
    return call()
  }
  const store: LeaseStore = {
    limits: { ...memory.limits, ordered: false },
    acquire: (request, signal) => {
      sent.push('acquire')
      if (sent.length > 1) return memory.acquire(request, signal)
      hung.push(request)
      return new Promise(() => {})
    },
    renew: (grant, signal) => counted('renew', () => memory.renew(grant, signal)),
    release: (grant, signal) => counted('release', () => memory.release(grant, signal)),
    read: (name, signal) => counted('read', () => memory.read(name, signal)),
    close: () => memory.close(),
  }
  const lease = createLease(store, 'job', { ...times, owner: 'me', clock, logger: silentLogger })
  const other = createLease(memory, 'job', { ...times, owner: 'other', clock, logger: silentLogger })
  /** Delivers the hanging request to the store. */
  const deliver = async (): Promise<void> => {
    const [request] = hung
    if (request === undefined) throw new Error('no request hangs')
    await memory.acquire(request)
  }
  /** Acquires the lease by a repetition of the hanging request, and releases it. */
  const acquireAndRelease = async (): Promise<void> => {
    const acquired = lease.acquire({ wait: TTL })
    await clock.advance(3 * LIMIT)
    expect(await acquired).toBe(true)
    expect(await lease.release()).toBe(true)
    // Long enough for the checks after a release.
    await clock.advance(30 * SECONDS)
  }
  return { clock, memory, lease, other, sent, deliver, acquireAndRelease }
}

describe('a late request that reaches the store after its repetition was granted and released', () => {
  it('is released by the next acquire, which is granted', async () => {
    const { clock, memory, lease, deliver, acquireAndRelease } = setUp()
    await acquireAndRelease()
    await deliver()
    const acquired = lease.acquire()
    await clock.settle()
    expect(await acquired).toBe(true)
    expect((await memory.read('job'))?.fencingToken).toBe(lease.fencingToken)
  })

  it('is also released for a waiter', async () => {
    const { clock, lease, deliver, acquireAndRelease } = setUp()
    await acquireAndRelease()
    await deliver()
    const before = clock.now()
    const acquired = lease.acquire({ wait: TTL })
    await clock.settle()
    expect(await acquired).toBe(true)
    expect(clock.now()).toBe(before)
  })

  it('is waited for by all callers, also if another one asks while it is being released', async () => {
    const { clock, memory, lease, deliver, acquireAndRelease } = setUp()
    await acquireAndRelease()
    await deliver()
    const release = memory.release.bind(memory)
    let goOn: () => void = () => {}
    const allowed = new Promise<void>((resolve) => {
      goOn = resolve
    })
    memory.release = async (grant, signal) => {
      await allowed
      return await release(grant, signal)
    }
    const first = lease.acquire()
    await clock.settle()
    // It asks the store once more, and is refused, too.
    const second = lease.acquire()
    await clock.settle()
    goOn()
    await clock.settle()
    expect(await Promise.all([first, second])).toEqual([true, true])
  })

  it('is released once more, if it arrives once more before a later acquire', async () => {
    const { clock, lease, deliver, acquireAndRelease } = setUp()
    await acquireAndRelease()
    for (const _ of [1, 2]) {
      await deliver()
      const acquired = lease.acquire()
      await clock.settle()
      expect(await acquired).toBe(true)
      expect(await lease.release()).toBe(true)
      await clock.advance(30 * SECONDS)
    }
  })

  it('is released by the next release', async () => {
    const { clock, lease, other, deliver, acquireAndRelease } = setUp()
    await acquireAndRelease()
    await deliver()
    expect(await other.acquire()).toBe(false)
    const released = lease.release()
    await clock.settle()
    expect(await released).toBe(true)
    expect(await other.acquire()).toBe(true)
  })

  it('is released in the background if it arrives soon after the release', async () => {
    const { clock, lease, other, deliver } = setUp()
    const acquired = lease.acquire({ wait: TTL })
    await clock.advance(3 * LIMIT)
    expect(await acquired).toBe(true)
    await lease.release()
    await clock.settle()
    await deliver()
    await clock.advance(2 * LIMIT)
    expect(await other.acquire()).toBe(true)
  })

  it('is also released if the grant was lost', async () => {
    const { clock, memory, lease, deliver } = setUp()
    const acquired = lease.acquire({ wait: TTL })
    await clock.advance(3 * LIMIT)
    expect(await acquired).toBe(true)
    await memory.break('job', { period: 0 })
    await clock.advance(30 * SECONDS)
    expect(lease.checkLease()).toBe(false)
    await deliver()
    const again = lease.acquire()
    await clock.settle()
    expect(await again).toBe(true)
  })

  it('that is granted again and again does not block acquire', async () => {
    const { clock, memory, lease, deliver, acquireAndRelease } = setUp()
    await acquireAndRelease()
    await deliver()
    const release = memory.release.bind(memory)
    memory.release = async (grant, signal) => {
      const outcome = await release(grant, signal)
      await deliver()
      return outcome
    }
    const acquired = expect(lease.acquire()).rejects.toMatchObject({ code: 'unavailable' })
    await clock.advance(TTL)
    await acquired
  })

  it('causes no call if no request was aborted: an idle release sends nothing', async () => {
    const { clock, sent, lease, deliver, acquireAndRelease } = setUp()
    await acquireAndRelease()
    await deliver()
    await clock.advance(11 * 60 * SECONDS)
    const before = sent.length
    expect(await lease.release()).toBe(true)
    expect(sent.length).toBe(before)
  })
})

describe('a copy of a claim that was refused, which reaches the store when the name is free', () => {
  it('begins the time of its grant, also if a later claim under the same grant id fails', async () => {
    const clock = new VirtualClock()
    const memory = new MemoryLeaseStore({ clock })
    const claims: Parameters<LeaseStore['acquire']>[0][] = []
    let fails = false
    const store: LeaseStore = {
      limits: { ...memory.limits, ordered: false },
      acquire: async (request, call) => {
        claims.push(request)
        if (fails) throw new Error('the connection is lost')
        return await memory.acquire(request, call)
      },
      // No heartbeat extends the validity.
      renew: () => new Promise(() => {}),
      release: (grant, call) => memory.release(grant, call),
      read: (name, call) => memory.read(name, call),
      close: () => memory.close(),
    }
    const lease = createLease(store, 'job', { ...times, owner: 'me', clock, logger: silentLogger })
    const other = createLease(memory, 'job', { ...times, owner: 'other', clock, logger: silentLogger })
    await other.acquire()
    const acquired = lease.acquire({ wait: TTL })
    await clock.advance(3 * SECONDS)
    // Just after a claim, so that the next one is as late as possible.
    const before = claims.length
    while (claims.length === before) await clock.advance(10)
    fails = true
    const [copy] = claims
    if (copy === undefined || !(await other.release())) throw new Error('nothing was claimed, or released')
    await memory.acquire(copy)
    const grantEnds = clock.now() + TTL
    await clock.advance(2 * SECONDS)
    expect(claims.length).toBe(before + 2)
    expect(await acquired).toBe(true)
    expect(lease.validUntil).toBeLessThan(grantEnds)
  })
})

describe('a late request that reaches the store after the grant of its repetition was broken', () => {
  it('does not bring the lease back: the holder loses it by its next heartbeat, and frees the name', async () => {
    const { clock, memory, lease, other, deliver } = setUp()
    const lost: string[] = []
    const acquired = lease.acquire({ wait: TTL, onLost: ({ reason }) => void lost.push(reason) })
    await clock.advance(3 * LIMIT)
    expect(await acquired).toBe(true)
    await memory.break('job', { period: 0 })
    expect(await other.acquire()).toBe(true)
    expect(await other.release()).toBe(true)
    await deliver()
    expect(await other.acquire()).toBe(false)
    await clock.advance(2 * SECONDS)
    expect(lost).toEqual(['expired'])
    expect(lease.checkLease()).toBe(false)
    expect(await other.acquire()).toBe(true)
  })
})
