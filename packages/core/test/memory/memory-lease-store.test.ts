import {
  type Grant,
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseNameError,
  LeaseTimeoutError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { AbortableCall, type AcquireOutcome, type StoreCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { MemoryLeaseStore } from '../../src/memory/memory-lease-store.js'
import { grantOf, IDS, type Letter, NAME, sceneIn, TTL } from './lease-states.js'

function granted(outcome: AcquireOutcome): Grant {
  if (!outcome.granted) throw new Error('not granted')
  return outcome.grant
}

function requestOf(letter: Letter, name = NAME): { name: string; owner: string; grantId: string; ttl: number } {
  return { name, owner: letter, grantId: IDS[letter], ttl: TTL }
}

describe('fencing tokens', () => {
  it('grow with every grant after release, expiry and break, by one', async () => {
    const { clock, store } = await sceneIn('available')
    const tokens: bigint[] = []
    tokens.push(granted(await store.acquire(requestOf('A'))).fencingToken)
    await store.release(grantOf('A'))
    tokens.push(granted(await store.acquire(requestOf('A'))).fencingToken)
    await clock.advance(TTL)
    tokens.push(granted(await store.acquire(requestOf('A'))).fencingToken)
    await store.break(NAME, { period: 0 })
    tokens.push(granted(await store.acquire(requestOf('A'))).fencingToken)
    tokens.push(granted(await store.change(grantOf('A'), { grantId: IDS.B, owner: 'B' })).fencingToken)
    expect(tokens).toEqual([1n, 2n, 3n, 4n, 5n])
  })

  it('stay with the grant when an acquisition, a change or a heartbeat is repeated', async () => {
    const { store } = await sceneIn('leased (A)')
    expect(granted(await store.acquire(requestOf('A'))).fencingToken).toBe(1n)
    const to = { grantId: IDS.B, owner: 'B' }
    expect(granted(await store.change(grantOf('A'), to))).toEqual({ ...grantOf('B'), fencingToken: 2n })
    expect(granted(await store.change(grantOf('A'), to))).toEqual({ ...grantOf('B'), fencingToken: 2n })
    await store.renew(grantOf('B'))
    expect(await store.read(NAME)).toMatchObject({ fencingToken: 2n })
  })

  it('go on growing when the name was deleted, with a name of its own for each counter', async () => {
    const { store } = await sceneIn('leased (A)')
    await store.release(grantOf('A'))
    await store.acquire(requestOf('B'))
    expect(granted(await store.acquire(requestOf('A', 'orders'))).fencingToken).toBe(1n)
    await store.delete(NAME)
    await store.delete('orders')
    expect(granted(await store.acquire(requestOf('A'))).fencingToken).toBe(3n)
    expect(granted(await store.acquire(requestOf('A', 'orders'))).fencingToken).toBe(3n)
  })
})

describe('a deleted name', () => {
  it('is gone for its holder, and leaves nothing to release, break, change or read', async () => {
    const { store } = await sceneIn('leased (A)')
    expect(await store.delete(NAME)).toBe(true)
    expect(await store.delete(NAME)).toBe(false)
    expect(await store.read(NAME)).toBeUndefined()
    expect(await store.renew(grantOf('A'))).toEqual({ renewed: false, reason: 'deleted' })
    expect(await store.release(grantOf('A'))).toEqual({ released: false })
    expect(await store.change(grantOf('A'), { grantId: IDS.B, owner: 'B' })).toEqual({ granted: false })
    await expect(store.break(NAME)).rejects.toThrow(LeaseConflictError)
  })

  it('that was acquired by another is taken', async () => {
    const { store } = await sceneIn('leased (A)')
    await store.delete(NAME)
    await store.acquire(requestOf('B'))
    expect(await store.renew(grantOf('A'))).toMatchObject({ renewed: false, reason: 'taken', holder: { owner: 'B' } })
  })
})

describe('why a heartbeat is refused', () => {
  it.each([
    { column: 'available, released', letter: 'A', refusal: { reason: 'expired' } },
    { column: 'leased (A)', letter: 'B', refusal: { reason: 'taken', holder: { owner: 'A', state: 'leased' } } },
    { column: 'breaking (A)', letter: 'B', refusal: { reason: 'taken', holder: { owner: 'A', state: 'breaking' } } },
    { column: 'breaking (A)', letter: 'A', refusal: { reason: 'broken' } },
    { column: 'broken (A)', letter: 'A', refusal: { reason: 'broken' } },
    { column: 'expired (A)', letter: 'B', refusal: { reason: 'taken' } },
  ] as const)('renew ($letter) on $column: $refusal.reason', async ({ column, letter, refusal }) => {
    const { store } = await sceneIn(column)
    const outcome = await store.renew(grantOf(letter))
    expect(outcome).toMatchObject({ renewed: false, ...refusal })
    const isHeld = column === 'leased (A)' || column === 'breaking (A)'
    expect('holder' in outcome).toBe(isHeld)
  })
})

describe('renewMany', () => {
  it('answers in the order of the grants, each as renew would', async () => {
    const { store } = await sceneIn('leased (A)')
    await store.acquire(requestOf('B', 'orders'))
    await store.acquire(requestOf('A', 'parcels'))
    await store.break('parcels', { period: 0 })
    const outcomes = await store.renewMany([
      { ...grantOf('B'), name: 'orders' },
      grantOf('C'),
      { ...grantOf('A'), name: 'parcels' },
      { ...grantOf('A'), name: 'nowhere' },
      grantOf('A'),
    ])
    expect(outcomes).toMatchObject([
      { renewed: true },
      { renewed: false, reason: 'taken', holder: { owner: 'A' } },
      { renewed: false, reason: 'broken' },
      { renewed: false, reason: 'deleted' },
      { renewed: true },
    ])
  })

  it('restarts every ttl', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const grants: Grant[] = []
    for (let place = 0; place < 1_000; place += 1) {
      grants.push(granted(await store.acquire(requestOf('A', `invoices/${place}`))))
    }
    await clock.advance(TTL - 1)
    expect(await store.renewMany(grants)).toEqual(grants.map(() => ({ renewed: true })))
    await clock.advance(TTL - 1)
    expect(await store.renewMany(grants)).toEqual(grants.map(() => ({ renewed: true })))
    expect(await store.renewMany([])).toEqual([])
  })
})

describe('the record of a grant', () => {
  it('has the holder, the token and the time left', async () => {
    const { clock, store } = await sceneIn('available')
    const metadata: Record<string, string> = { zone: 'north' }
    await store.acquire({ ...requestOf('A'), metadata })
    metadata.zone = 'changed by the caller'
    await clock.advance(5_000)
    expect(await store.read(NAME)).toEqual({
      ...grantOf('A'),
      state: 'leased',
      metadata: { zone: 'north' },
      remaining: 10_000,
      grantedAt: clock.wall() - 5_000,
      renewals: 0,
      waiters: 0,
    })
  })

  it('has the time of the grant and the count of renewals, also after its end', async () => {
    const { clock, store } = await sceneIn('available')
    await store.acquire(requestOf('A'))
    const grantedAt = clock.wall()
    await clock.advance(1_000)
    await store.renew(grantOf('A'))
    await store.update(grantOf('A'), {})
    expect(await store.read(NAME)).toMatchObject({ grantedAt, renewals: 2 })
    await store.acquire(requestOf('A'))
    expect(await store.read(NAME)).toMatchObject({ grantedAt, renewals: 2 })
    await store.release(grantOf('A'))
    expect(await store.read(NAME)).toMatchObject({ state: 'available', grantedAt, renewals: 2 })
  })

  it('shares no metadata with the caller', async () => {
    const { store } = await sceneIn('leased (A)')
    const metadata = { zone: 'south' }
    await store.update(grantOf('A'), metadata)
    await store.release(grantOf('A'), undefined, metadata)
    metadata.zone = 'changed by the caller'
    expect(await store.acquire(requestOf('B'))).toMatchObject({ previous: { zone: 'south' } })
    expect(await store.read(NAME)).toMatchObject({ previous: { zone: 'south' } })
  })

  it('metadata goes with a change and a repetition, and ends with the grant', async () => {
    const { store } = await sceneIn('available')
    await store.acquire({ ...requestOf('A'), metadata: { zone: 'north' } })
    await store.acquire(requestOf('A'))
    await store.change(grantOf('A'), { grantId: IDS.B, owner: 'B' })
    expect(await store.read(NAME)).toMatchObject({ owner: 'B', metadata: { zone: 'north' } })
    await store.release(grantOf('B'))
    await store.acquire(requestOf('C'))
    expect(await store.read(NAME)).toMatchObject({ owner: 'C', metadata: {} })
  })

  it('the reason of a break is kept until the next grant', async () => {
    const { store } = await sceneIn('leased (A)')
    await store.break(NAME, { period: 0, reason: 'host on fire' })
    expect(await store.read(NAME)).toMatchObject({ state: 'broken', metadata: { breakReason: 'host on fire' } })
    await store.acquire(requestOf('A'))
    expect(await store.read(NAME)).toMatchObject({ state: 'leased', metadata: {} })
  })

  it('a record that was read does not change any more', async () => {
    const { store } = await sceneIn('leased (A)')
    const before = await store.read(NAME)
    await store.release(grantOf('A'))
    expect(before).toMatchObject({ state: 'leased', remaining: TTL })
  })

  it('only a locked record has time remaining', async () => {
    for (const column of ['available, released', 'broken (A)', 'expired (A)'] as const) {
      const { store } = await sceneIn(column)
      expect(await store.read(NAME)).not.toHaveProperty('remaining')
    }
  })

  it('comes with a refusal', async () => {
    const { store } = await sceneIn('breaking (A)')
    const history = { grantedAt: expect.any(Number), renewals: 0 }
    const holder = { ...grantOf('A'), state: 'breaking', metadata: {}, remaining: 5_000, ...history }
    expect(await store.acquire(requestOf('B'))).toEqual({ granted: false, holder })
    expect(await store.release(grantOf('B'))).toEqual({ released: false, holder })
    expect(await store.change(grantOf('B'), { grantId: IDS.C, owner: 'C' })).toEqual({ granted: false, holder })
  })
})

describe('an expiry that no operation has seen yet', () => {
  it('leaves no holder', async () => {
    const { clock, store } = await sceneIn('leased (A)')
    await clock.advance(TTL)
    expect(await store.release(grantOf('B'))).toEqual({ released: false })
  })

  it('leaves nothing to change', async () => {
    const { clock, store } = await sceneIn('leased (A)')
    await clock.advance(TTL)
    expect(await store.change(grantOf('A'), { grantId: IDS.B, owner: 'B' })).toEqual({ granted: false })
  })
})

describe('names', () => {
  it.each(['a', 'A', '\u00e9', 'e\u0301', '__proto__', 'constructor', '租约/лизинг 🔑', 'x'.repeat(1_024)])(
    'a lease on %j is on nothing else',
    async (name) => {
      const { store } = await sceneIn('available')
      const others = ['a', 'A', '\u00e9', 'e\u0301', '__proto__', 'constructor'].filter((other) => other !== name)
      for (const other of others) await store.acquire(requestOf('A', other))
      expect(await store.read(name)).toBeUndefined()
      expect(granted(await store.acquire(requestOf('B', name)))).toMatchObject({ name, fencingToken: 1n })
      expect(await store.read(name)).toMatchObject({ name, owner: 'B' })
    },
  )

  it.each(['', 'x'.repeat(1_025), '\ud83d'])('%j is not a name', async (name) => {
    const { store } = await sceneIn('available')
    await expect(store.acquire(requestOf('A', name))).rejects.toThrow(LeaseNameError)
    const watch = store.watch(name, new AbortableCall())[Symbol.asyncIterator]()
    await expect(watch.next()).rejects.toThrow(LeaseNameError)
  })
})

describe('limits', () => {
  it('are those of the documentation', () => {
    const store = new MemoryLeaseStore()
    expect(store.kind).toBe('memory')
    expect(store.limits).toEqual({ minTtl: 1, maxTtl: Number.MAX_SAFE_INTEGER, infinite: true, ordered: true })
  })

  it.each([0, -1, 0.5, Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 60])('a ttl of %d is refused', async (ttl) => {
    const { store } = await sceneIn('available')
    const attempt = store.acquire({ ...requestOf('A'), ttl })
    await expect(attempt).rejects.toThrow(LeaseConfigurationError)
    expect(await store.read(NAME)).toBeUndefined()
  })

  it.each([1, Number.MAX_SAFE_INTEGER])('a ttl of %d is granted', async (ttl) => {
    const { store } = await sceneIn('available')
    expect(await store.acquire({ ...requestOf('A'), ttl })).toMatchObject({ granted: true })
  })

  it.each([-1, 60_001, Number.NaN, Number.POSITIVE_INFINITY])('a break period of %d is refused', async (period) => {
    const { store } = await sceneIn('leased (A)')
    await expect(store.break(NAME, { period })).rejects.toThrow(LeaseConfigurationError)
    expect(await store.read(NAME)).toMatchObject({ state: 'leased' })
  })
})

describe('an operation that does not begin', () => {
  function operationsOf(store: MemoryLeaseStore, call: StoreCall): Readonly<Record<string, () => Promise<unknown>>> {
    return {
      acquire: () => store.acquire(requestOf('B'), call),
      renew: () => store.renew(grantOf('A'), call),
      renewMany: () => store.renewMany([grantOf('A')], call),
      update: () => store.update(grantOf('A'), {}, call),
      release: () => store.release(grantOf('A'), call),
      read: () => store.read(NAME, call),
      list: () => store.list('', call).next(),
      change: () => store.change(grantOf('A'), { grantId: IDS.B, owner: 'B' }, call),
      break: () => store.break(NAME, {}, call),
      withdraw: () => store.withdraw(NAME, IDS.A, call),
      delete: () => store.delete(NAME, call),
    }
  }

  function abortedCall(reason: Error): StoreCall {
    const call = new AbortableCall()
    call.abort(reason)
    return call
  }

  it('with an aborted call every operation rejects with the reason of the call and changes nothing', async () => {
    const { store } = await sceneIn('leased (A)')
    const before = await store.read(NAME)
    const reason = new LeaseTimeoutError('too late')
    for (const operation of Object.values(operationsOf(store, abortedCall(reason)))) {
      await expect(operation()).rejects.toBe(reason)
    }
    expect(await store.read(NAME)).toEqual(before)
  })

  it('after close every operation rejects as unavailable', async () => {
    const { store } = await sceneIn('leased (A)')
    await store.close()
    const call = new AbortableCall()
    for (const operation of Object.values(operationsOf(store, call))) {
      await expect(operation()).rejects.toThrow(LeaseUnavailableError)
    }
    const watch = store.watch(NAME, call)[Symbol.asyncIterator]()
    await expect(watch.next()).rejects.toThrow(LeaseUnavailableError)
    await store.close()
  })
})

describe('the metadata that a holder leaves', () => {
  const metadata = { zone: 'north' }

  it.each(['released', 'expired', 'broken'] as const)('is `previous` of the next holder: %s', async (how) => {
    const { clock, store } = await sceneIn('available')
    expect(await store.acquire(requestOf('A'))).not.toHaveProperty('previous')
    expect(await store.update(grantOf('A'), { zone: 'south' })).toEqual({ renewed: true })
    if (how === 'released') await store.release(grantOf('A'), undefined, metadata)
    else await store.update(grantOf('A'), metadata)
    if (how === 'expired') await clock.advance(TTL)
    if (how === 'broken') await store.break(NAME, { period: 0 })
    expect(await store.acquire(requestOf('B'))).toMatchObject({ granted: true, previous: metadata })
    // The answer may have been lost.
    expect(await store.acquire(requestOf('B'))).toMatchObject({ granted: true, previous: metadata })
    expect(await store.read(NAME)).toMatchObject({ owner: 'B', metadata, previous: metadata })
  })

  it('is `previous` of the owner that the lease is passed on to, and stays in the record', async () => {
    const { store } = await sceneIn('available')
    await store.acquire({ ...requestOf('A'), metadata })
    for (const repetition of ['first', 'again']) {
      const changed = await store.change(grantOf('A'), { grantId: IDS.B, owner: 'B' })
      expect(changed, repetition).toMatchObject({ granted: true, previous: metadata })
    }
    expect(await store.read(NAME)).toMatchObject({ owner: 'B', metadata, previous: metadata })
  })

  it('is not changed by an owner whose grant is over', async () => {
    const { store } = await sceneIn('broken (A)')
    expect(await store.update(grantOf('A'), metadata)).toEqual({ renewed: false, reason: 'broken' })
    await store.acquire(requestOf('B'))
    expect(await store.release(grantOf('A'), undefined, metadata)).toMatchObject({ released: false })
    expect(await store.read(NAME)).toMatchObject({ owner: 'B', metadata: {} })
  })
})

describe('the timers of the store', () => {
  it('no timer runs for leases without a watch', async () => {
    const { clock, store } = await sceneIn('leased (A)')
    await store.acquire({ ...requestOf('B'), queue: true })
    await store.break(NAME, { period: 1_000 })
    expect(clock.pending).toBe(0)
  })
})
