import {
  createLease,
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseLostError,
  LeaseTimeoutError,
  MemoryGuard,
  MemoryLeaseStore,
  type StoreLease,
} from '@leasehold/core'
import { AbortableCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { ARMED, INTERVAL, LIMIT, setUp, setUpHeld, silentLogger, TTL } from './support/held-lease.js'
import { recordOf } from './support/scripted-store.js'

const call = new AbortableCall()

interface Pair {
  readonly clock: VirtualClock
  readonly store: MemoryLeaseStore
  readonly a: StoreLease
  readonly b: StoreLease
  readonly create: (owner: string) => StoreLease
}

async function setUpPair(): Promise<Pair> {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT, clock }
  const create = (owner: string): StoreLease => createLease(store, 'job', { ...times, owner, logger: silentLogger })
  const a = create('a')
  await a.acquire()
  return { clock, store, a, b: create('b'), create }
}

describe('handOff and adopt', () => {
  it('pass the lease on, and the name is never free in between', async () => {
    const { store, a, b, create } = await setUpPair()
    const tokenOfA = a.fencingToken ?? 0n
    const handOff = await a.handOff({ owner: 'b' })
    expect(a.checkLease()).toBe(false)
    expect(await store.read('job', call)).toMatchObject({ state: 'leased', owner: 'b' })
    expect(await create('thief').acquire()).toBe(false)
    expect(await b.adopt(JSON.parse(JSON.stringify(handOff)))).toBe(true)
    expect(b.checkLease()).toBe(true)
    expect(b.fencingToken).toBeGreaterThan(tokenOfA)
    expect(await create('thief').acquire()).toBe(false)
  })

  it('A can no longer write, and B can', async () => {
    const { a, b } = await setUpPair()
    const guard = new MemoryGuard()
    const tokenOfA = a.fencingToken ?? 0n
    guard.write('data', tokenOfA, 'by A')
    await b.adopt(await a.handOff({ owner: 'b' }))
    guard.write('data', b.fencingToken ?? 0n, 'by B')
    expect(() => guard.write('data', tokenOfA, 'late, by A')).toThrow(LeaseLostError)
  })

  it('is rejected with a forged fencing token, which reaches no resource, and the name is freed', async () => {
    const { clock, store, a, b, create } = await setUpPair()
    const handOff = await a.handOff({ owner: 'b' })
    const fencingToken = String(BigInt(handOff.fencingToken) + 1n)
    const adopted = b.adopt({ ...handOff, fencingToken }).catch((error: unknown) => error)
    await clock.settle()
    expect(await adopted).toBeInstanceOf(LeaseConflictError)
    expect(await adopted).toMatchObject({
      message: expect.stringContaining(`bears the fencing token ${fencingToken}, but the store granted the smaller`),
    })
    expect([b.checkLease(), b.fencingToken, b.state]).toEqual([false, undefined, 'idle'])
    expect(await create('next').acquire()).toBe(true)
    expect(await store.read('job', call)).toMatchObject({ owner: 'next' })
  })

  it('is rejected with a forged fencing token also if the first answer is lost', async () => {
    const { clock, store, lease } = setUp()
    const handOff = { name: 'job', owner: 'me', grantId: 'given', fencingToken: '8', ttl: TTL }
    const adopted = lease.adopt(handOff).catch((error: unknown) => error)
    const { grantId = '' } = store.last('change')
    store.last('change').fail(new Error('lost'))
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'me', grantId, fencingToken: 8n }))
    await clock.settle()
    expect(await adopted).toBeInstanceOf(LeaseConflictError)
    expect(store.last('release')).toMatchObject({ grantId })
  })

  it('can be adopted only once: one of two receivers of the same hand-off holds the lease', async () => {
    const { a, b, create } = await setUpPair()
    const handOff = await a.handOff({ owner: 'b' })
    const other = create('b')
    expect((await Promise.all([b.adopt(handOff), other.adopt(handOff)])).filter(Boolean)).toEqual([true])
    expect([b, other].filter((lease) => lease.checkLease()).length).toBe(1)
  })

  it('expires without an adoption, and adopt then resolves false', async () => {
    const { clock, a, b } = await setUpPair()
    const handOff = await a.handOff({ owner: 'b' })
    await clock.advance(TTL)
    expect(await b.adopt(handOff)).toBe(false)
    expect(b.state).toBe('idle')
  })

  it('keeps its heartbeats under the new owner', async () => {
    const { clock, a, b } = await setUpPair()
    await b.adopt(await a.handOff({ owner: 'b' }))
    await clock.advance(5 * TTL)
    expect(b.checkLease()).toBe(true)
    expect(await b.release()).toBe(true)
  })

  it('calls no onLost', async () => {
    const { clock, store, lease, losses, events } = await setUpHeld()
    const handedOff = lease.handOff({ owner: 'b' })
    store.last('change').answer('yes')
    await handedOff
    await clock.advance(2 * TTL)
    expect(losses).toEqual([])
    expect(events).toEqual(['acquired', 'released'])
  })

  it('rejects with a LeaseConflictError when the lease is not held', async () => {
    const { lease } = setUp()
    await expect(lease.handOff()).rejects.toBeInstanceOf(LeaseConflictError)
  })

  it('rejects with a LeaseLostError when the store reports the lease as lost', async () => {
    const { store, lease } = await setUpHeld()
    const handedOff = lease.handOff()
    store.last('change').answer({ granted: false, holder: recordOf() })
    await expect(handedOff).rejects.toBeInstanceOf(LeaseLostError)
  })

  it('is settled by reading when its response was lost', async () => {
    const { clock, store, lease } = await setUpHeld()
    const handedOff = lease.handOff({ owner: 'b' })
    const { grantId = '' } = store.last('change')
    store.last('change').fail(new Error('reset'))
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'b', grantId, fencingToken: 9n }))
    expect(await handedOff).toMatchObject({ owner: 'b', grantId, fencingToken: '9' })
  })

  it('is repeated when reading shows that it had no effect', async () => {
    const { clock, store, lease } = await setUpHeld()
    const handedOff = lease.handOff({ owner: 'b' })
    const own = store.calls[0]?.grantId ?? ''
    store.last('change').fail(new Error('reset'))
    await clock.settle()
    store.last('read').answer(recordOf({ owner: 'me', grantId: own }))
    await clock.advance(LIMIT / 2)
    store.last('change').answer('yes')
    expect(await handedOff).toMatchObject({ owner: 'b' })
  })

  it('rejects when it cannot be settled, and both grants are released', async () => {
    const { clock, store, lease } = await setUpHeld()
    const rejected = expect(lease.handOff({ owner: 'b' })).rejects.toBeInstanceOf(LeaseTimeoutError)
    const own = store.calls[0]?.grantId
    await clock.advance(ARMED + LIMIT)
    await rejected
    const after = store.calls.slice(-2).map(({ method, grantId }) => [method, grantId])
    expect(after).toEqual([
      ['release', own],
      ['read', undefined],
    ])
  })

  it('is rejected for another owner or name, and so are invalid hand-offs', async () => {
    const { a, b, create, store, clock } = await setUpPair()
    const handOff = await a.handOff({ owner: 'b' })
    await expect(create('c').adopt(handOff)).rejects.toThrow("meant for owner 'b', not for 'c'")
    const elsewhere = createLease(store, 'other', { owner: 'b', clock })
    await expect(elsewhere.adopt(handOff)).rejects.toThrow("of lease 'job', not of 'other'")
    await expect(b.adopt({ ...handOff, fencingToken: 'x' })).rejects.toBeInstanceOf(LeaseConfigurationError)
    await expect(b.adopt({} as never)).rejects.toBeInstanceOf(LeaseConfigurationError)
    expect(await b.adopt(handOff)).toBe(true)
    await expect(b.adopt(handOff)).rejects.toBeInstanceOf(LeaseConflictError)
  })

  it('is adopted also during the cleanup of an earlier claim, while another caller acquires', async () => {
    const { clock, store, lease } = setUp()
    const timedOut = expect(lease.acquire()).rejects.toBeInstanceOf(LeaseTimeoutError)
    await clock.advance(LIMIT)
    await timedOut
    const handOff = { name: 'job', owner: 'me', grantId: 'handed-over', fencingToken: '0', ttl: TTL }
    const adopted = lease.adopt(handOff)
    const acquired = lease.acquire()
    store.last('read').answer(undefined)
    await clock.settle()
    store.last('change').answer('yes')
    expect(await Promise.all([adopted, acquired])).toEqual([true, true])
  })

  it('needs a store that can change grants', async () => {
    const { store, lease } = await setUpHeld()
    Object.defineProperty(store, 'change', { value: undefined })
    await expect(lease.handOff()).rejects.toBeInstanceOf(LeaseConfigurationError)
  })
})

describe('break', () => {
  it('with a period: the holder notices within one heartbeat, and the next one is granted after the period', async () => {
    const { clock, store, a, create } = await setUpPair()
    const losses: unknown[] = []
    await a.acquire({ onLost: (lost) => losses.push(lost) })
    await store.break('job', { period: 2 * INTERVAL }, call)
    const waiter = create('waiter')
    const acquired = waiter.acquire({ wait: TTL })
    await clock.advance(INTERVAL)
    expect(losses).toMatchObject([{ reason: 'broken' }])
    expect(a.checkLease()).toBe(false)
    await clock.advance(INTERVAL - 1)
    expect(waiter.checkLease()).toBe(false)
    await clock.advance(INTERVAL)
    expect(await acquired).toBe(true)
  })

  it('without a period, frees the name at once if the lease does not expire', async () => {
    const { clock, store } = await setUpPair()
    const endless = createLease(store, 'endless', {
      heartbeatTimeout: Number.POSITIVE_INFINITY,
      clock,
      logger: silentLogger,
    })
    await endless.acquire()
    expect(await store.break('endless', {}, call)).toEqual({ remaining: 0 })
    const next = createLease(store, 'endless', { clock, logger: silentLogger })
    expect(await next.acquire()).toBe(true)
  })
})

describe('handOff to a waiter that asks already', () => {
  const grantId = 'f3a0a1a2-0000-4000-8000-000000000001'
  const to = { owner: 'b', grantId }

  it('is one write: the waiter holds the lease with its next request, under the token of the write', async () => {
    const { clock, store, a, b, create } = await setUpPair()
    const waiting = b.acquire({ wait: 10 * TTL, grantId })
    const later = create('later')
    const behind = later.acquire({ wait: 10 * TTL })
    await clock.advance(1)
    const handOff = await a.handOff(to)
    expect(await create('thief').acquire()).toBe(false)
    await clock.advance(1)
    expect(await waiting).toBe(true)
    expect(String(b.fencingToken)).toBe(handOff.fencingToken)
    expect(a.checkLease()).toBe(false)
    await b.release()
    await clock.advance(1)
    expect(await behind).toBe(true)
    expect(await store.read('job', call)).toMatchObject({ owner: 'later', waiters: 0 })
  })

  it('whose outcome is unknown never frees the grant of the waiter', async () => {
    const { clock, store, b, a } = await setUpPair()
    const waiting = b.acquire({ wait: 10 * TTL, grantId })
    await clock.advance(1)
    const { change } = store
    // The change takes effect, and its answer and the reads are lost.
    store.change = async (...asked) => {
      await change.apply(store, asked)
      return await new Promise(() => {})
    }
    const settled = a.handOff(to).catch((error: unknown) => error)
    await clock.advance(2 * LIMIT)
    expect(await settled).toBeInstanceOf(LeaseTimeoutError)
    expect(await waiting).toBe(true)
    await clock.advance(TTL * 3)
    expect(b.checkLease()).toBe(true)
  })

  it('whose answer comes too late never frees the grant of the waiter', async () => {
    const { clock, store, b, a } = await setUpPair()
    const waiting = b.acquire({ wait: 10 * TTL, grantId })
    await clock.advance(1)
    const { change } = store
    store.change = async (...asked) => {
      const outcome = await change.apply(store, asked)
      await new Promise<void>((resolve) => void clock.schedule(2 * LIMIT, resolve))
      return outcome
    }
    store.read = () => new Promise(() => {})
    const settled = a.handOff(to).catch((error: unknown) => error)
    await clock.advance(3 * LIMIT)
    expect(await settled).toBeInstanceOf(LeaseTimeoutError)
    expect(await waiting).toBe(true)
    await clock.advance(3 * TTL)
    expect(b.checkLease()).toBe(true)
  })

  it('that has given up is undone by the waiter: the name is not locked for a ttl', async () => {
    const { clock, store, a, b } = await setUpPair()
    const stopping = new AbortController()
    const waiting = b.acquire({ wait: 10 * TTL, grantId, signal: stopping.signal }).catch(() => 'stopped')
    await clock.advance(1)
    const handOff = a.handOff(to)
    stopping.abort()
    expect(await waiting).toBe('stopped')
    await handOff
    await clock.advance(3 * LIMIT)
    expect((await store.read('job', call))?.state).toBe('available')
  })

  it('needs a grant id that is a GUID, and its owner', async () => {
    const { a } = await setUpPair()
    await expect(a.handOff({ owner: 'b', grantId: 'no' })).rejects.toThrow(LeaseConfigurationError)
    await expect(a.handOff({ grantId })).rejects.toThrow("'grantId' needs 'owner'")
    await expect(a.handOff({ owner: 'b', grant: 1 } as never)).rejects.toThrow(LeaseConfigurationError)
    expect(a.checkLease()).toBe(true)
  })
})
