import { LeaseConfigurationError, type LeaseStore, LeaseUnavailableError, MemoryLeaseStore } from '@leasehold/core'
import { migrate } from '@leasehold/core/migrate'
import { viewOf } from '@leasehold/core/store'
import { describe, expect, it } from 'vitest'
import { call, granted, intercepted, NAME, requestOf, TTL, twoStores } from './two-stores.js'

describe('migrate', () => {
  it('refuses a store that cannot raise tokens, and says what to do', () => {
    const memory = new MemoryLeaseStore()
    const old = viewOf(new MemoryLeaseStore(), { raiseToken: () => undefined })
    expect(() => migrate(old, memory)).toThrow(LeaseConfigurationError)
    expect(() => migrate(old, memory)).toThrow('the memory in from has no raiseToken')
    expect(() => migrate(memory, old)).toThrow('in to has no raiseToken')
  })

  it('refuses what is no store, and the same store twice', () => {
    const memory = new MemoryLeaseStore()
    expect(() => migrate(undefined as never, memory)).toThrow('from must be a lease store, not undefined')
    expect(() => migrate(memory, 'redis://localhost' as never)).toThrow('to must be a lease store')
    expect(() => migrate(memory, memory)).toThrow('the same store')
  })

  it('takes the stricter limits of both', () => {
    const store = (limits: Partial<LeaseStore['limits']>) =>
      viewOf(new MemoryLeaseStore(), { limits: (own) => ({ ...own, ...limits }) })
    const from = store({ minTtl: 10, maxTtl: 5_000, ordered: false, metadata: 100 })
    const to = store({ minTtl: 100, infinite: false, observed: true, frees: { ttls: 2, extra: 50 } })
    expect(migrate(from, to).limits).toEqual({
      minTtl: 100,
      maxTtl: 5_000,
      infinite: false,
      ordered: false,
      metadata: 100,
      observed: true,
      frees: { ttls: 2, extra: 50 },
    })
    expect(migrate(to, store({ metadata: 0 })).update).toBeUndefined()
  })

  it('needs as many looks at a record as the store that needs more', () => {
    const store = (limits: Partial<LeaseStore['limits']>) =>
      viewOf(new MemoryLeaseStore(), { limits: (own) => ({ ...own, ...limits }) })
    const looks = (from: LeaseStore, to: LeaseStore) => migrate(from, to).limits.looks
    const one = () => store({ observed: true, looks: { needed: 1, extra: 7 } })
    const two = () => store({ observed: true, looks: { needed: 2, extra: 3 } })
    expect(looks(one(), store({}))).toEqual({ needed: 1, extra: 7 })
    expect(looks(two(), one())).toEqual({ needed: 2, extra: 7 })
    expect(looks(one(), two())).toEqual({ needed: 2, extra: 7 })
    expect(looks(one(), store({ observed: true }))).toBeUndefined()
    expect(looks(store({}), store({}))).toBeUndefined()
  })

  it('takes two round trips for a grant, three when a token is raised, and one for a heartbeat', async () => {
    const { from, to } = await twoStores()
    const calls: string[] = []
    const seen = (store: LeaseStore, role: string) =>
      intercepted(store, (method) => void calls.push(`${method} ${role}`))
    const both = migrate(seen(from, 'from'), seen(to, 'to'))
    const first = await granted(both, 'first')
    expect(calls).toEqual(['acquire from', 'acquire to', 'raiseToken from'])
    calls.length = 0
    await both.renew(first, call)
    expect(calls).toEqual(['renew from', 'renew to'])
    calls.length = 0
    await both.release(first, call)
    expect(calls).toEqual(['release to', 'release from'])
    calls.length = 0
    await granted(both, 'second')
    expect(calls).toEqual(['acquire from', 'acquire to'])
  })

  it('names the store that failed', async () => {
    const { from, to } = await twoStores()
    const down = intercepted(to, () => {
      throw new LeaseUnavailableError('connect ECONNREFUSED', { store: 'memory', retryAfter: 7 })
    })
    const both = migrate(from, down)
    const error = await both.acquire(requestOf('a'), call).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(LeaseUnavailableError)
    expect(error).toMatchObject({ message: 'memory (to): connect ECONNREFUSED', store: 'memory (to)', retryAfter: 7 })
    const broken = migrate(
      intercepted(from, () => {
        throw new TypeError('no such function')
      }),
      to,
    )
    await expect(broken.read(NAME, call)).rejects.toThrow('memory (from): no such function')
  })

  it('frees the name in the old store though the new one fails', async () => {
    const { from, to } = await twoStores()
    const grant = await granted(migrate(from, to), 'holder')
    const both = migrate(
      from,
      intercepted(to, () => {
        throw new LeaseUnavailableError('connect ECONNREFUSED')
      }),
    )
    await expect(both.release(grant, call)).rejects.toThrow('memory (to): connect ECONNREFUSED')
    expect((await from.read(NAME))?.state).toBe('available')
  })

  it('reports a refused heartbeat although the other store hangs', async () => {
    const { from, to } = await twoStores()
    const both = migrate(from, to)
    const grant = await granted(both, 'holder')
    await from.break(NAME, { period: 0 })
    to.renew = () => new Promise(() => {})
    expect(await both.renew(grant, call)).toMatchObject({ renewed: false, reason: 'broken', left: true })
  })

  it('lists each name once, of either store', async () => {
    const { from, to, both } = await twoStores()
    await granted(from, 'old', { name: 'a' })
    await granted(to, 'new', { name: 'b' })
    await granted(both, 'migrating', { name: 'c' })
    const listed: string[] = []
    for await (const { name, owner, state } of both.list?.('', call) ?? []) listed.push(`${name} ${owner} ${state}`)
    expect(listed.sort()).toEqual(['a old leased', 'b new leased', 'c migrating leased', 'orders first available'])
  })

  it('breaks a lease in both stores, also if only one has it', async () => {
    const { from, to, both } = await twoStores()
    const grant = await granted(both, 'holder')
    expect(await both.break?.(NAME, { period: TTL / 2, reason: 'stuck' }, call)).toEqual({ remaining: TTL / 2 })
    for (const store of [from, to]) expect((await store.read(NAME))?.state).toBe('breaking')
    await both.release(grant, call)
    await granted(from, 'old')
    expect(await both.break?.(NAME, { period: 0 }, call)).toEqual({ remaining: 0 })
    expect((await from.read(NAME))?.state).toBe('broken')
    await expect(both.break?.('nobody', {}, call)).rejects.toThrow('nothing to break')
  })

  it('reports the findings of both stores, each with its store', async () => {
    const finding = { check: 'eviction', result: 'ok' } as const
    const probed = (store: LeaseStore): LeaseStore => Object.assign(viewOf(store, {}), { probe: async () => [finding] })
    const both = migrate(probed(new MemoryLeaseStore()), new MemoryLeaseStore())
    expect(await both.probe?.(call)).toEqual([{ check: 'memory (from): eviction', result: 'ok' }])
  })

  it('closes both stores, and is closed when one of them is', async () => {
    const [from, to] = [new MemoryLeaseStore(), new MemoryLeaseStore()]
    const both = migrate(from, to)
    await both.close()
    expect(from.closed.aborted && to.closed.aborted && both.closed?.aborted).toBe(true)
    await expect(both.read(NAME, call)).rejects.toThrow('the migrate store is closed')
    const other = new MemoryLeaseStore()
    const half = migrate(other, new MemoryLeaseStore())
    await other.close()
    expect(half.closed?.aborted).toBe(true)
  })
})
