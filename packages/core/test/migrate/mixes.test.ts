import { createLease, type LeaseStore } from '@leasehold/core'
import { migrate } from '@leasehold/core/migrate'
import { type FaultPlan, FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { silentLogger } from '../support/held-lease.js'
import { call, granted, isRefused, NAME, requestOf, TTL, type TwoStores, twoStores } from './two-stores.js'

/** The two mixes of processes that a deployment has: with one store and with both. */
const mixes = [
  ['from', 'both'],
  ['both', 'to'],
] as const

describe.each(mixes)('processes with %s and with %s', (one, other) => {
  it.each([
    [one, other],
    [other, one],
    [one, one],
    [other, other],
  ])('exclude each other: %s holds, %s is refused', async (holder, challenger) => {
    const stores = await twoStores()
    const grant = await granted(stores[holder], 'holder')
    expect(await isRefused(stores[challenger], 'challenger')).toBe(true)
    await stores.clock.advance(TTL * 0.9)
    expect(await stores[holder].renew(grant, call)).toEqual({ renewed: true })
    await stores.clock.advance(TTL * 0.9)
    expect(await isRefused(stores[challenger], 'challenger')).toBe(true)
    await stores[holder].release(grant, call)
    await granted(stores[challenger], 'challenger')
  })

  it('a paused holder has lost its lease when another is granted it', async () => {
    for (const [holder, challenger] of [
      [one, other],
      [other, one],
    ] as const) {
      const stores = await twoStores()
      const clock = new VirtualClock({ time: stores.clock.time })
      const lease = createLease(stores[holder], NAME, { heartbeatTimeout: TTL, clock, logger: silentLogger })
      const acquired = lease.acquire()
      await clock.settle()
      expect(await acquired).toBe(true)
      clock.pause()
      while (await isRefused(stores[challenger], 'challenger')) await stores.clock.advance(TTL / 100)
      clock.resume()
      expect(lease.checkLease()).toBe(false)
      await stores.clock.advance(1)
      expect(await isRefused(stores[holder], 'late')).toBe(true)
    }
  })
})

describe('fencing tokens', () => {
  const moves: readonly (keyof Omit<TwoStores, 'clock'>)[][] = [
    ['from', 'from', 'both', 'from', 'both', 'both', 'to', 'both', 'to', 'to', 'both', 'to', 'both', 'from'],
    ['to', 'both', 'to', 'both', 'both', 'from', 'both', 'from', 'both', 'to'],
  ]

  it.each([
    ['from', 0],
    ['to', 0],
    ['from', 1],
    ['to', 1],
  ] as const)('grow from process to process, with %s ahead, in plan %i', async (ahead, plan) => {
    const stores = await twoStores(ahead)
    let last = 0n
    let isMigrating = false
    for (const [turn, kind] of (moves[plan] ?? []).entries()) {
      isMigrating ||= kind === 'both'
      const grant = await granted(stores[kind], `holder ${turn}`)
      if (isMigrating) expect(grant.fencingToken, `turn ${turn}, ${kind}`).toBeGreaterThan(last)
      last = grant.fencingToken > last ? grant.fencingToken : last
      // Every other one dies.
      if (turn % 2 === 0) await stores[kind].release(grant, call)
      else await stores.clock.advance(TTL)
    }
  })

  it('are the same in both records when the grant is reported', async () => {
    const { clock, from, to, both } = await twoStores()
    const raise = from.raiseToken.bind(from)
    from.raiseToken = async (...asked) => {
      await new Promise<void>((resolve) => clock.schedule(100, resolve))
      return await raise(...asked)
    }
    const reported = granted(both, 'holder')
    await clock.settle()
    const early = await Promise.race([reported, Promise.resolve()])
    expect(early).toBeUndefined()
    await clock.advance(100)
    const { fencingToken } = await reported
    expect(fencingToken).toBe(10n ** 15n + 1n)
    expect((await from.read(NAME))?.fencingToken).toBe(fencingToken)
    expect((await to.read(NAME))?.fencingToken).toBe(fencingToken)
  })

  it('grow when a lease is passed on, from a process with one store, too', async () => {
    const { from, to, both } = await twoStores()
    const own = await granted(both, 'holder')
    const passed = await both.change?.(own, requestOf('next'), call)
    expect(passed).toMatchObject({ granted: true, grant: { fencingToken: own.fencingToken + 1n } })
    if (passed?.granted) await both.release(passed.grant, call)
    const old = await granted(from, 'old')
    const adopted = await both.change?.(old, requestOf('adopter'), call)
    expect(adopted?.granted && adopted.grant.fencingToken > old.fencingToken).toBe(true)
    expect(await isRefused(to, 'new')).toBe(true)
  })
})

describe('a claim that the new store refuses', () => {
  const times = { heartbeatTimeout: TTL, heartbeatInterval: 1_000, operationTimeout: 1_000 }

  it('keeps the name in the old store, for the next request with its grant id only', async () => {
    const { from, to, both } = await twoStores()
    const holder = await granted(to, 'holder')
    expect(await both.acquire(requestOf('challenger'), call)).toMatchObject({
      granted: false,
      left: true,
      holder: { owner: 'holder', grantId: holder.grantId },
    })
    expect(await isRefused(from, 'old')).toBe(true)
    expect(await isRefused(both, 'other')).toBe(true)
    await to.release(holder)
    expect((await granted(both, 'challenger')).grantId).toBe(requestOf('challenger').grantId)
  })

  it('sends no release that could arrive when the name is held', async () => {
    const { clock, from, to } = await twoStores()
    const holder = await granted(to, 'holder')
    const plan: FaultPlan = ({ operation }) => {
      return operation === 'release' ? { kind: 'arrive-late', duration: 5_000 } : undefined
    }
    const slow = new FaultyStore(from, { plan, clock })
    const lease = createLease(migrate(slow, to), NAME, { ...times, clock, logger: silentLogger })
    const acquired = lease.acquire({ wait: TTL })
    await clock.advance(100)
    await to.release(holder)
    await clock.advance(4_000)
    expect(await acquired).toBe(true)
    await clock.advance(2_000)
    expect(lease.checkLease()).toBe(true)
    expect(await isRefused(from, 'old')).toBe(true)
  })

  it.each([0, 2_000])('leaves the name in no store when it is given up: wait %i', async (wait) => {
    const { clock, from, to, both } = await twoStores()
    await granted(to, 'holder')
    const lease = createLease(both, NAME, { ...times, clock, logger: silentLogger })
    const acquired = lease.acquire({ wait })
    await clock.advance(wait + 100)
    expect(await acquired).toBe(false)
    await granted(from, 'old')
  })

  it('says so to the owner who hands it over, who then frees it', async () => {
    const { clock, from, to, both } = await twoStores()
    const lease = createLease(both, NAME, { ...times, clock, logger: silentLogger })
    const acquired = lease.acquire()
    await clock.settle()
    expect(await acquired).toBe(true)
    // The grant ends in the old store, while the hand-off is on its way.
    const change = from.change.bind(from)
    from.change = async (...asked) => {
      await from.break(NAME, { period: 0 })
      return await change(...asked)
    }
    const handed = lease.handOff().catch((error: Error) => error)
    await clock.advance(100)
    expect(await handed).toBeInstanceOf(Error)
    await granted(to, 'new')
  })
})

describe('a claim that the old store refuses', () => {
  it('leaves nothing in the new store', async () => {
    const { from, to, both } = await twoStores()
    await granted(from, 'old')
    const last = (await to.read(NAME))?.fencingToken
    expect(await both.acquire(requestOf('challenger'), call)).not.toHaveProperty('left')
    expect((await to.read(NAME))?.fencingToken).toBe(last)
  })
})

describe('a claim whose grant ends in one store before it is granted', () => {
  it('is refused, and is granted with the next request', async () => {
    const { from, both } = await twoStores()
    const raise = from.raiseToken.bind(from)
    from.raiseToken = async (...asked) => {
      await from.break(NAME, { period: 0 })
      from.raiseToken = raise
      return await raise(...asked)
    }
    expect(await both.acquire(requestOf('challenger'), call)).toEqual({ granted: false, left: true })
    await granted(both, 'challenger')
  })
})

describe('a heartbeat that one store refuses', () => {
  const ways: readonly (readonly ['from' | 'to', (store: LeaseStore) => Promise<unknown>])[] = [
    ['from', async (store) => await store.break?.(NAME, { period: 0 }, call)],
    ['to', async (store) => await store.break?.(NAME, { period: 0 }, call)],
  ]

  it.each(ways)('ends the lease, and frees the name in the other store: %s', async (broken, end) => {
    const stores = await twoStores()
    const { clock, from, to, both } = stores
    const lost: string[] = []
    const lease = createLease(both, NAME, { heartbeatTimeout: TTL, clock, logger: silentLogger })
    const acquired = lease.acquire({ onLost: ({ reason }) => void lost.push(reason) })
    await clock.settle()
    expect(await acquired).toBe(true)
    await end(stores[broken])
    const renewed = lease.renew()
    await clock.settle()
    expect(await renewed).toBe(false)
    expect(lost).toEqual(['broken'])
    for (const store of [from, to]) expect(['available', 'broken']).toContain((await store.read(NAME))?.state)
  })

  it('renews many at once in both stores, and reports each refusal', async () => {
    const { clock, from, to, both } = await twoStores()
    const one = await granted(both, 'one')
    const other = await granted(both, 'other', { name: 'other' })
    for (let round = 0; round < 3; round += 1) {
      await clock.advance(TTL * 0.9)
      expect(await both.renewMany?.([one, other], call)).toEqual([{ renewed: true }, { renewed: true }])
    }
    await clock.advance(TTL * 0.9)
    for (const store of [from, to]) expect((await store.read('other'))?.state).toBe('leased')
    await to.break('other', { period: 0 })
    const [kept, ended] = (await both.renewMany?.([one, other], call)) ?? []
    expect(kept).toEqual({ renewed: true })
    expect(ended).toMatchObject({ renewed: false, reason: 'broken', left: true })
  })
})

describe('processes that give the two stores in the other order', () => {
  it('exclude each other', async () => {
    const { clock, from, to } = await twoStores()
    let holders = 0
    let turns = 0
    let isOver = false
    const contend = async (store: LeaseStore, owner: string): Promise<void> => {
      const lease = createLease(store, NAME, { heartbeatTimeout: TTL, owner, clock, logger: silentLogger })
      while (!isOver) {
        // Without a wait: with places in two queues, each waiter could be first in one of them, and none in both.
        if (await lease.acquire()) {
          holders += 1
          turns += 1
          expect(holders).toBe(1)
          await new Promise<void>((resolve) => clock.schedule(100, resolve))
          holders -= 1
          await lease.release()
        }
        await new Promise<void>((resolve) => clock.schedule(50, resolve))
      }
    }
    const processes = ['a', 'b'].flatMap((owner) => [
      contend(migrate(from, to), `${owner} from first`),
      contend(migrate(to, from), `${owner} to first`),
    ])
    await clock.advance(10 * TTL)
    isOver = true
    await clock.advance(TTL)
    await Promise.all(processes)
    expect(turns).toBeGreaterThan(100)
  })
})
