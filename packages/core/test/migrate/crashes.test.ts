import { createLease, type Grant, type LeaseStore, LeaseUnavailableError } from '@leasehold/core'
import { migrate } from '@leasehold/core/migrate'
import { describe, expect, it } from 'vitest'
import { guidOf } from '../support/guid-of.js'
import { silentLogger } from '../support/held-lease.js'
import { call, granted, intercepted, NAME, requestOf, TTL, twoStores } from './two-stores.js'

/** How many calls to stores the life below has at most. */
const MOST_CALLS = 40

/** The life of a process; `reports` is called with each token that it works under. */
async function live(both: LeaseStore, reports: (token: bigint) => void): Promise<void> {
  const work = async (by: string): Promise<Grant> => {
    const grant = await granted(both, by)
    reports(grant.fencingToken)
    return grant
  }
  const first = await work('first life')
  await both.renew(first, call)
  await both.update?.(first, { step: '1' }, call)
  await both.release(first, call, { step: '2' })
  const second = await work('second life')
  const passed = await both.change?.(second, { grantId: guidOf('passed'), owner: 'passed' }, call)
  if (passed?.granted !== true) throw new Error('not passed on')
  reports(passed.grant.fencingToken)
  await both.release(passed.grant, call)
}

const cases = (['from', 'to'] as const).flatMap((ahead) => {
  return (['before', 'after'] as const).flatMap((side) => {
    return Array.from({ length: MOST_CALLS }, (_, index) => [ahead, side, index + 1] as const)
  })
})

describe('a process that ends at any call to a store', () => {
  it.each(cases)(
    'leaves the name free within a ttl, and tokens grow: %s ahead, %s call %i',
    async (ahead, side, last) => {
      for (const next of ['both', 'from', 'to'] as const) {
        const { clock, from, to, both } = await twoStores(ahead)
        // The name has been held under both before.
        const earlier = await granted(both, 'earlier')
        await both.release(earlier, call)
        let largest = earlier.fencingToken
        let calls = 0
        const isOver = (at: 'before' | 'after') => calls > last || (calls === last && at === side)
        const dies = async (at: 'before' | 'after') => {
          if (at === 'before') calls += 1
          if (isOver(at)) await new Promise(() => {})
        }
        const through = (store: LeaseStore) =>
          intercepted(
            store,
            () => dies('before'),
            () => dies('after'),
          )
        void live(migrate(through(from), through(to)), (token) => {
          largest = token
        })
        await clock.settle()
        await clock.advance(TTL)
        const grant = await granted({ both, from, to }[next], 'next')
        expect(grant.fencingToken).toBeGreaterThan(largest)
      }
    },
  )

  it('has fewer calls than the test takes away', async () => {
    const { from, to } = await twoStores()
    let calls = 0
    const counted = (store: LeaseStore) =>
      intercepted(store, () => {
        calls += 1
      })
    await live(migrate(counted(from), counted(to)), () => {})
    expect(calls).toBeGreaterThan(15)
    expect(calls).toBeLessThan(MOST_CALLS)
  })
})

const losses = (['from', 'to'] as const).flatMap((role) => {
  return (['request', 'answer'] as const).flatMap((lost) => {
    return Array.from({ length: 6 }, (_, index) => [lost, role, index + 1] as const)
  })
})

describe('a lost message', () => {
  it.each(losses)(
    'the %s of a call to %s, the call %i: the lease is held in both stores or in none',
    async (lost, role, at) => {
      for (const wait of [0, TTL]) {
        const { clock, from, to } = await twoStores()
        let calls = 0
        const fails = (when: 'request' | 'answer') => {
          if (when === 'request') calls += 1
          if (calls === at && when === lost) throw new LeaseUnavailableError('the connection was lost')
        }
        const lossy = (store: LeaseStore) =>
          intercepted(
            store,
            () => fails('request'),
            () => fails('answer'),
          )
        const both = migrate(role === 'from' ? lossy(from) : from, role === 'to' ? lossy(to) : to)
        const times = { heartbeatTimeout: TTL, heartbeatInterval: 1_000, operationTimeout: 1_000 }
        const lease = createLease(both, NAME, { ...times, clock, logger: silentLogger, random: () => 0 })
        lease.on('error', () => {})
        const acquired = lease.acquire({ wait }).catch((error: Error) => error)
        await clock.advance(TTL)
        const outcome = await acquired
        if (outcome === true) {
          const records = await Promise.all([from.read(NAME), to.read(NAME)])
          for (const record of records)
            expect(record).toMatchObject({ state: 'leased', fencingToken: lease.fencingToken })
          const released = lease.release().catch(() => false)
          await clock.advance(1_000)
          await released
        } else expect(wait).toBe(0)
        if (outcome instanceof Error) expect(outcome.message).toContain(`(${role})`)
        // Less than a ttl: nothing was left to expire.
        await clock.advance(TTL / 2)
        for (const store of [from, to]) await granted(store, 'next')
      }
    },
  )
})

describe('a record that only one store has', () => {
  it.each(['from', 'to'] as const)('has no grant id: %s', async (role) => {
    const stores = await twoStores()
    await granted(stores[role], 'holder')
    const record = await stores.both.read(NAME, call)
    expect(record).toMatchObject({ state: 'leased', owner: 'holder', grantId: '' })
  })

  it('has none either while the tokens differ', async () => {
    const { from, to, both } = await twoStores()
    await granted(from, 'holder')
    await granted(to, 'holder')
    expect((await both.read(NAME, call))?.grantId).toBe('')
    expect((await granted(both, 'holder')).fencingToken).toBe(10n ** 15n + 1n)
    expect((await both.read(NAME, call))?.grantId).toBe(requestOf('holder').grantId)
  })
})
