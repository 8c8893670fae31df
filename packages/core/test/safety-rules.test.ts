import { createLease, LeaseTimeoutError, LeaseUnavailableError, MemoryLeaseStore } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createSystemClock } from '../src/system-clock.js'
import { beat, INTERVAL, LIMIT, setUp, setUpHeld, silentLogger, TTL, VALIDITY } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

// Without jitter, so that the instants below are exact; the jitter has tests of its own.
beforeEach(() => void vi.spyOn(Math, 'random').mockReturnValue(0))
afterEach(() => void vi.restoreAllMocks())

const reset = new Error('read ECONNRESET')

describe('rule 1: validity ends at requestSentAt + ttl − drift − margin of the last confirmed request', () => {
  it('counts from when the acquire was sent, not from when it was answered', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    await clock.advance(900)
    store.last('acquire').answer('yes')
    expect(await acquired).toBe(true)
    clock.block(VALIDITY - 900 - 1)
    expect(lease.checkLease()).toBe(true)
    clock.block(1)
    expect(lease.checkLease()).toBe(false)
  })

  it('counts from when the heartbeat was sent, not from when it was answered', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(INTERVAL)
    await clock.advance(900)
    store.last('renew').answer('yes')
    await clock.settle()
    clock.block(VALIDITY - 900 - 1)
    expect(lease.checkLease()).toBe(true)
    clock.block(1)
    expect(lease.checkLease()).toBe(false)
  })

  it('takes off one part in a hundred for drift and 25 ms beside', async () => {
    const { lease } = await setUpHeld()
    expect(lease.remaining).toBe(TTL * 0.99 - 25)
  })

  it('is not prolonged by a heartbeat that was sent and not confirmed', async () => {
    const { clock, lease } = await setUpHeld()
    await clock.advance(INTERVAL + LIMIT / 2)
    expect(lease.remaining).toBe(VALIDITY - INTERVAL - LIMIT / 2)
  })

  it('has nothing left where the answer comes after it: the grant is not held, and is taken back', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId, answer } = store.last('acquire')
    clock.block(VALIDITY)
    answer('yes')
    await expect(acquired).rejects.toBeInstanceOf(LeaseTimeoutError)
    expect(lease.checkLease()).toBe(false)
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '' }))
    await clock.settle()
    expect(store.last('release').grantId).toBe(grantId)
  })

  it('is over for good: a confirmation that is read after its end does not bring it back', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(INTERVAL)
    const heartbeat = store.last('renew')
    clock.block(VALIDITY - INTERVAL)
    expect(lease.checkLease()).toBe(false)
    heartbeat.answer('yes')
    await Promise.resolve()
    await Promise.resolve()
    expect(lease.checkLease()).toBe(false)
  })
})

describe('rule 2: a deadline timer independent of any promise in flight ends validity', () => {
  it('tells the loss at the deadline though the store hangs for ever and ignores its signal', async () => {
    const { clock, lease, losses } = await setUpHeld()
    await clock.advance(VALIDITY - 1)
    expect(losses).toEqual([])
    expect(lease.checkLease()).toBe(true)
    await clock.advance(1)
    expect(losses).toMatchObject([{ reason: 'expired' }])
    expect(lease.state).toBe('idle')
  })

  it('goes on trying until then, each attempt with its own time limit', async () => {
    const { clock, store } = await setUpHeld()
    await clock.advance(VALIDITY)
    const attempts = store.calls.filter((call) => call.method === 'renew')
    expect(attempts.length).toBeGreaterThanOrEqual(5)
    expect(attempts.every((call) => call.signal.aborted)).toBe(true)
  })

  it('aborts the signal of the lease, and says which failure led to the loss', async () => {
    const { clock, lease, losses } = await setUpHeld()
    const { signal } = lease
    await clock.advance(VALIDITY)
    expect(signal.aborted).toBe(true)
    expect(signal.reason).toMatchObject({ code: 'lost', reason: 'expired' })
    expect(losses[0]?.cause).toBeInstanceOf(LeaseTimeoutError)
  })
})

describe('rule 3: time is monotonic, a suspend counts, a step of the wall clock does not', () => {
  it('checkLease is false after a blocked event loop, before any timer has run', async () => {
    const { clock, lease, losses } = await setUpHeld()
    clock.block(VALIDITY)
    expect(losses).toEqual([])
    expect(lease.checkLease()).toBe(false)
  })

  it('checkLease is false after a suspend, before any timer has run, and the loss is told as such', async () => {
    const { clock, lease, losses } = await setUpHeld()
    clock.suspend(VALIDITY)
    expect(lease.checkLease()).toBe(false)
    await clock.advance(INTERVAL)
    expect(losses).toMatchObject([{ reason: 'suspended' }])
  })

  it('the system clock counts a suspend, once, and ignores steps of the wall clock', () => {
    const time = { monotonic: 0, wall: 1_000_000, boot: 50_000 }
    const clock = createSystemClock({
      monotonic: () => time.monotonic,
      wall: () => time.wall,
      boot: () => time.boot,
    })
    const pass = (duration: number): void => {
      time.monotonic += duration
      time.wall += duration
      time.boot += duration
    }
    pass(1_000)
    expect(clock.now()).toBe(1_000)
    time.wall += 3_600_000
    expect(clock.now()).toBe(1_000)
    time.wall -= 7_200_000
    expect(clock.now()).toBe(1_000)
    time.wall += 60_000
    time.boot += 60_000
    expect(clock.now()).toBeGreaterThanOrEqual(61_000)
    expect(clock.now()).toBeLessThanOrEqual(61_020)
    expect(clock.suspended?.()).toBeGreaterThanOrEqual(60_000)
    pass(500)
    expect(clock.now()).toBeLessThanOrEqual(61_520)
  })
})

describe('rule 5: acquire proposes its own grant id, and a lost response is settled by reading', () => {
  it('holds the lease when the record bears our grant id, from when the acquire was sent', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId, fail } = store.last('acquire')
    await clock.advance(300)
    fail(reset)
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '', fencingToken: 41n, ttl: TTL }))
    expect(await acquired).toBe(true)
    expect(lease.fencingToken).toBe(41n)
    expect(lease.remaining).toBe(VALIDITY - 300)
  })

  it('is false when the record bears the grant of another', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    store.last('acquire').fail(reset)
    await clock.settle()
    store.last('read').answer(recordOf())
    expect(await acquired).toBe(false)
  })

  it('rejects when reading does not settle it, and takes back what was granted after all', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId, fail } = store.last('acquire')
    fail(reset)
    await clock.settle()
    store.last('read').answer(undefined)
    await expect(acquired).rejects.toBeInstanceOf(LeaseUnavailableError)
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '' }))
    await clock.settle()
    expect(store.last('release').grantId).toBe(grantId)
  })

  it('looks again for a grant that arrives in the store after the first look', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId } = store.last('acquire')
    const refused = expect(acquired).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await refused
    store.last('read').answer(undefined)
    await clock.settle()
    expect(store.count('release')).toBe(0)
    await clock.advance(LIMIT)
    store.last('read').answer(recordOf({ owner: 'me', grantId: grantId ?? '' }))
    await clock.settle()
    expect(store.last('release').grantId).toBe(grantId)
  })

  it('repeats a claim under the same grant id, and a new claim has a new one', async () => {
    const { clock, store, lease } = setUp()
    const waiting = lease.acquire({ wait: TTL })
    const first = store.last('acquire')
    first.answer({ granted: false, holder: recordOf() })
    await clock.advance(INTERVAL)
    const second = store.last('acquire')
    expect(second.grantId).toBe(first.grantId)
    second.answer('yes')
    expect(await waiting).toBe(true)
    const released = lease.release()
    store.last('release').answer('yes')
    await released
    void lease.acquire()
    expect(store.last('acquire').grantId).not.toBe(first.grantId)
  })
})

describe('rule 6: transient failures are retried inside the validity, definitive answers end the lease at once', () => {
  it('one failed heartbeat does not drop a good lease', async () => {
    const fixture = await setUpHeld()
    const { clock, store, lease, losses, events } = fixture
    await clock.advance(INTERVAL)
    store.last('renew').fail(reset)
    await clock.settle()
    expect(lease.state).toBe('jeopardy')
    expect(lease.checkLease()).toBe(true)
    await beat(fixture, 3 * TTL)
    expect(losses).toEqual([])
    expect(events.slice(0, 4)).toEqual(['acquired', 'jeopardy', 'renewed', 'recovered'])
  })

  it('retries with pauses that grow, and every attempt has a time limit of its own', async () => {
    const { clock, store } = await setUpHeld()
    const sent: number[] = []
    const seen = new Set<unknown>()
    for (let instant = 0; instant < VALIDITY - 50; instant += 10) {
      await clock.advance(10)
      const call = store.calls.at(-1)
      if (call?.method !== 'renew' || seen.has(call)) continue
      seen.add(call)
      sent.push(clock.now())
      call.fail(reset)
      await clock.settle()
    }
    const pauses = sent.slice(1).map((instant, place) => instant - (sent[place] ?? 0))
    expect(sent.length).toBeGreaterThan(10)
    expect(pauses[3]).toBeGreaterThan(pauses[0] ?? 0)
    expect(Math.max(...pauses)).toBeLessThanOrEqual(INTERVAL / 2)
  })

  it.each(['taken', 'broken', 'deleted', 'expired'] as const)('%s ends the lease at once', async (reason) => {
    const { clock, store, lease, losses } = await setUpHeld()
    await clock.advance(INTERVAL)
    store.last('renew').answer({ renewed: false, reason, holder: recordOf({ owner: 'successor' }) })
    await clock.settle()
    expect(losses).toEqual([{ reason, owner: 'successor' }])
    expect(lease.checkLease()).toBe(false)
    expect(store.count('release')).toBe(0)
  })
})

describe('rule 7: one operation in flight, and a stale response changes nothing', () => {
  it('a late confirmation of a heartbeat that was given up does not prolong validity', async () => {
    const { clock, store, lease } = await setUpHeld()
    await clock.advance(INTERVAL)
    const first = store.last('renew')
    await clock.advance(LIMIT + INTERVAL / 2)
    expect(store.count('renew')).toBe(2)
    const before = lease.remaining
    first.answer('yes')
    await clock.settle()
    expect(lease.remaining).toBe(before)
    expect(lease.state).toBe('jeopardy')
  })

  it('a late refusal of a heartbeat that was given up does not end the lease', async () => {
    const { clock, store, lease, losses } = await setUpHeld()
    await clock.advance(INTERVAL)
    const first = store.last('renew')
    await clock.advance(LIMIT + INTERVAL / 2)
    first.answer({ renewed: false, reason: 'taken' })
    await clock.settle()
    expect(losses).toEqual([])
    expect(lease.checkLease()).toBe(true)
  })

  it('the answer to a heartbeat of an earlier grant says nothing of the next', async () => {
    const { clock, store, lease, losses } = await setUpHeld()
    await clock.advance(INTERVAL)
    const heartbeat = store.last('renew')
    const released = lease.release()
    store.last('release').answer('yes')
    await released
    const again = lease.acquire({ onLost: (lost) => losses.push(lost) })
    store.last('acquire').answer('yes')
    expect(await again).toBe(true)
    heartbeat.answer({ renewed: false, reason: 'taken' })
    await clock.settle()
    expect(losses).toEqual([])
    expect(lease.checkLease()).toBe(true)
  })

  it('never has two calls in flight that were not given up', async () => {
    const { clock, store, lease } = await setUpHeld()
    for (let instant = 0; instant < VALIDITY; instant += 10) {
      await clock.advance(10)
      const open = store.calls.filter(({ method, signal }) => method === 'renew' && !signal.aborted)
      expect(open.length).toBeLessThanOrEqual(1)
    }
    expect(lease.state).toBe('idle')
  })

  it('a grant that comes after the claim was given up is not held, and is taken back', async () => {
    const { clock, store, lease } = setUp()
    const acquired = lease.acquire()
    const { grantId, answer } = store.last('acquire')
    const rejected = expect(acquired).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await rejected
    answer('yes')
    await clock.advance(LIMIT)
    expect(lease.checkLease()).toBe(false)
    expect(lease.state).toBe('idle')
    store.calls.find(({ method }) => method === 'read')?.answer(undefined)
    await clock.advance(LIMIT)
    expect(store.calls.some((call) => call.method === 'release' && call.grantId === grantId)).toBe(true)
  })
})

describe('rule 8: every mutation of a record is conditional on our grant', () => {
  it('a stale holder does not free the lease of the next', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT, clock }
    const stale = createLease(store, 'job', { ...times, owner: 'stale', logger: silentLogger })
    const next = createLease(store, 'job', { ...times, owner: 'next', logger: silentLogger })
    expect(await stale.acquire()).toBe(true)
    clock.block(TTL)
    expect(await next.acquire()).toBe(true)
    expect(await stale.release()).toBe(false)
    expect(next.checkLease()).toBe(true)
    expect(await store.read('job', new AbortController().signal)).toMatchObject({ owner: 'next', state: 'leased' })
  })

  it('takes back only a record that bears the grant id of the claim', async () => {
    const { clock, store, lease } = setUp()
    const rejected = expect(lease.acquire()).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await rejected
    store.last('read').answer(recordOf())
    await clock.advance(LIMIT)
    store.last('read').answer(recordOf())
    await clock.advance(TTL)
    expect(store.count('release')).toBe(0)
    expect(clock.pending).toBe(0)
  })

  it('fencing tokens grow over release, expiry, deletion', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const tokens: bigint[] = []
    for (const end of ['release', 'expire', 'delete', 'release', 'expire'] as const) {
      const lease = createLease(store, 'job', {
        heartbeatTimeout: TTL,
        heartbeatInterval: INTERVAL,
        operationTimeout: LIMIT,
        clock,
        logger: silentLogger,
      })
      expect(await lease.acquire()).toBe(true)
      tokens.push(lease.fencingToken ?? 0n)
      if (end === 'release') await lease.release()
      if (end === 'expire') clock.block(TTL)
      if (end === 'delete') store.delete('job')
    }
    expect(tokens).toEqual([...tokens].sort((a, b) => Number(a - b)))
    expect(new Set(tokens).size).toBe(tokens.length)
  })
})

describe('rule 9: heartbeats carry jitter, and leases of one store are renewed together', () => {
  it('jitter spreads the heartbeats, and never makes one later than planned', async () => {
    const instants = new Set<number>()
    for (const random of [0, 0.25, 0.5, 0.75, 0.999]) {
      vi.spyOn(Math, 'random').mockReturnValue(random)
      const { clock, store } = await setUpHeld()
      while (store.count('renew') === 0) await clock.advance(1)
      instants.add(clock.now())
      expect(clock.now()).toBeLessThanOrEqual(INTERVAL)
      expect(clock.now()).toBeGreaterThanOrEqual(INTERVAL * 0.9 - 1)
    }
    expect(instants.size).toBe(5)
  })

  it('one call to the store renews the leases that fall due together', async () => {
    vi.restoreAllMocks()
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const renewMany = vi.spyOn(store, 'renewMany')
    const renew = vi.spyOn(store, 'renew')
    const leases = Array.from({ length: 1_000 }, (_, place) =>
      createLease(store, `job-${place}`, {
        heartbeatTimeout: TTL,
        heartbeatInterval: INTERVAL,
        operationTimeout: LIMIT,
        clock,
        logger: silentLogger,
      }),
    )
    await Promise.all(leases.map((lease) => lease.acquire()))
    await clock.advance(3 * TTL)
    expect(leases.every((lease) => lease.checkLease())).toBe(true)
    const renewed = renewMany.mock.calls.reduce((sum, [grants]) => sum + grants.length, 0)
    expect(renewed).toBeGreaterThan(1_000 * 29)
    expect(renewMany.mock.calls.length).toBeLessThan(renewed / 10)
    expect(renew).not.toHaveBeenCalled()
  })
})
