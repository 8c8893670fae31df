import { randomUUID } from 'node:crypto'
import { createLease, type LeaseStore, LeaseUnavailableError, MemoryLeaseStore } from '@leasehold/core'
import { AbortableCall, type AcquireRequest } from '@leasehold/core/store'
import { type CallDescription, type Fault, FaultyStore, seededFaults, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'

const call = new AbortableCall()
const request: AcquireRequest = { name: 'job', owner: 'me', grantId: randomUUID(), ttl: 10_000 }

function setUp(plan?: (call: CallDescription) => Fault | undefined) {
  const clock = new VirtualClock()
  const inner = new MemoryLeaseStore({ clock })
  return { clock, inner, store: new FaultyStore(inner, { clock, plan }) }
}

describe('FaultyStore', () => {
  it('passes calls without a fault on, and has exactly the methods of the other store', async () => {
    const { inner, store } = setUp()
    expect(await store.acquire(request, call)).toMatchObject({ granted: true })
    expect(await store.read('job', call)).toMatchObject({ state: 'leased', owner: 'me' })
    expect(store.limits).toBe(inner.limits)
    const plain: LeaseStore = {
      limits: inner.limits,
      acquire: inner.acquire,
      renew: inner.renew,
      release: inner.release,
      read: inner.read,
      close: inner.close,
    }
    const bare = new FaultyStore(plain)
    for (const ability of [
      'change',
      'break',
      'withdraw',
      'watch',
      'watchGrant',
      'renewMany',
      'update',
      'list',
    ] as const) {
      expect(ability in bare && (bare as LeaseStore)[ability], ability).toBeFalsy()
      expect(store[ability] === undefined, ability).toBe((inner as LeaseStore)[ability] === undefined)
    }
  })

  it('passes the watch of a grant on, undisturbed', async () => {
    const { inner } = setUp()
    const watchGrant = vi.fn(async function* () {
      yield 'changed'
    })
    const store = new FaultyStore(Object.assign(inner, { watchGrant }))
    const outcome = await store.acquire(request, call)
    if (!outcome.granted) throw new Error('not granted')
    const yielded: unknown[] = []
    for await (const change of store.watchGrant?.(outcome.grant, call) ?? []) yielded.push(change)
    expect(yielded).toEqual(['changed'])
    expect(watchGrant).toHaveBeenCalledWith(outcome.grant, call)
  })

  it('delay calls the store late', async () => {
    const { clock, inner, store } = setUp()
    store.inject({ kind: 'delay', duration: 500 })
    const granted = store.acquire(request, call)
    await clock.advance(499)
    expect(await inner.read('job', call)).toBeUndefined()
    await clock.advance(1)
    expect(await granted).toMatchObject({ granted: true })
    expect(clock.pending).toBe(0)
  })

  it('answer-late calls the store at once and answers late, also after the caller gave up', async () => {
    const { clock, inner, store } = setUp()
    const own = new AbortableCall()
    store.inject({ kind: 'answer-late', duration: 500 })
    let answered = false
    const granted = store.acquire(request, own).finally(() => {
      answered = true
    })
    await clock.settle()
    expect(await inner.read('job', call)).toMatchObject({ state: 'leased' })
    own.abort()
    await clock.advance(499)
    expect(answered).toBe(false)
    await clock.advance(1)
    expect(await granted).toMatchObject({ granted: true })
  })

  it('counts the calls that the other store is executing, without those that are delayed or hang', async () => {
    const { clock, store } = setUp()
    store.inject({ kind: 'delay', duration: 500 })
    const granted = store.acquire(request, call)
    await clock.settle()
    expect(store.inProgress).toBe(0)
    await clock.advance(500)
    await granted
    const read = store.read('job', call)
    expect(store.inProgress).toBe(1)
    await read
    expect(store.inProgress).toBe(0)
  })

  it('fail-before rejects without a call of the store, and fail-after rejects after the call', async () => {
    const { inner, store } = setUp()
    store.inject({ kind: 'fail-before' })
    await expect(store.acquire(request, call)).rejects.toBeInstanceOf(LeaseUnavailableError)
    expect(await inner.read('job', call)).toBeUndefined()
    store.inject({ kind: 'fail-after', error: new RangeError('mine') })
    await expect(store.acquire(request, call)).rejects.toThrow(RangeError)
    expect(await inner.read('job', call)).toMatchObject({ state: 'leased', grantId: request.grantId })
  })

  it.each([
    [{ kind: 'hang' } as const, undefined],
    [{ kind: 'hang', applied: true } as const, 'leased'],
    [{ kind: 'delay', duration: 1e9 } as const, undefined],
    [{ kind: 'reorder' } as const, undefined],
  ])('%j rejects when the caller aborts the call, and leaves no timer behind', async (fault, state) => {
    const { clock, inner, store } = setUp()
    const giving = new AbortableCall()
    store.inject(fault)
    const answer = store.acquire(request, giving)
    await clock.settle()
    giving.abort(new Error('no longer'))
    await expect(answer).rejects.toThrow('no longer')
    expect((await inner.read('job', call))?.state).toBe(state)
    expect(clock.pending).toBe(0)
  })

  it('duplicate calls the store twice and answers the caller once', async () => {
    const { inner, store } = setUp()
    const asked: string[] = []
    const release = inner.release.bind(inner)
    inner.release = (grant, by) => {
      asked.push(grant.grantId)
      return release(grant, by)
    }
    const outcome = await store.acquire(request, call)
    if (!outcome.granted) throw new Error('not granted')
    store.inject({ kind: 'duplicate' }, 'release')
    expect(await store.release(outcome.grant, call)).toEqual({ released: true })
    expect(asked).toEqual([request.grantId, request.grantId])
  })

  it('reorder calls the store after the next call', async () => {
    const { store } = setUp()
    store.inject({ kind: 'reorder' })
    const first = store.acquire(request, call)
    const second = await store.acquire({ ...request, grantId: randomUUID(), owner: 'other' }, call)
    expect(second.granted).toBe(true)
    expect(await first).toMatchObject({ granted: false, holder: { owner: 'other' } })
  })

  it('a fault for one operation waits for that operation, and a plan decides on other calls', async () => {
    const seen: CallDescription[] = []
    const { store } = setUp((call) => {
      seen.push(call)
      return undefined
    })
    store.inject({ kind: 'fail-before' }, 'read')
    await store.acquire(request, call)
    await expect(store.read('job', call)).rejects.toBeInstanceOf(LeaseUnavailableError)
    await store.read('job', call)
    expect(seen).toEqual([
      { operation: 'acquire', name: 'job', count: 1 },
      { operation: 'read', name: 'job', count: 3 },
    ])
  })

  it('a lease over the store settles a lost answer', async () => {
    const { clock, inner, store } = setUp()
    const lease = createLease(store, 'job', { clock, owner: 'me' })
    store.inject({ kind: 'fail-after' }, 'acquire')
    const granted = lease.acquire()
    await clock.advance(5_000)
    expect(await granted).toBe(true)
    expect(await inner.read('job', call)).toMatchObject({ owner: 'me', fencingToken: lease.fencingToken })
    await lease.release()
  })
})

describe('seededFaults', () => {
  const call = (count: number): CallDescription => ({ operation: 'renew', name: 'job', count })
  const draw = (seed: number, options = {}) => {
    const plan = seededFaults(seed, options)
    return Array.from({ length: 2_000 }, (_, count) => plan(call(count)))
  }

  it('are the same for the same seed, and differ for another seed', () => {
    expect(draw(7)).toEqual(draw(7))
    expect(draw(7)).not.toEqual(draw(8))
  })

  it('have the given rate and kinds', () => {
    const faults = draw(7, { rate: 0.5, kinds: ['delay', 'hang'], longestDelay: 100 }).filter(
      (fault) => fault !== undefined,
    )
    expect(faults.length).toBeGreaterThan(900)
    expect(faults.length).toBeLessThan(1_100)
    expect(new Set(faults.map(({ kind }) => kind))).toEqual(new Set(['delay', 'hang']))
    for (const fault of faults) if (fault.kind === 'delay') expect(fault.duration).toBeLessThanOrEqual(100)
    expect(new Set(draw(7).map((fault) => fault?.kind)).size).toBe(9)
    expect(draw(7, { rate: 0 }).every((fault) => fault === undefined)).toBe(true)
  })
})
