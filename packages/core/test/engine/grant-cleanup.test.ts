import { type Grant, LeaseTimeoutError } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { GrantCleanup } from '../../src/engine/grant-cleanup.js'
import { rules } from '../support/rules.js'
import { recordOf, ScriptedStore } from '../support/scripted-store.js'
import { grant } from '../support/transitions.js'

const LIMIT = rules.operationTimeout
const reset = new Error('reset')
const ours = recordOf({ owner: 'me', grantId: 'mine' })

interface Fixture {
  readonly clock: VirtualClock
  readonly store: ScriptedStore
  readonly cleanup: GrantCleanup
  /** When which call was made. */
  readonly sent: () => (readonly [number, string])[]
}

/** Something is to be taken back from a store that the test answers for; `fails`: every call fails at once. */
async function setUp(
  left: Grant | undefined,
  { ttl = rules.ttl, fails = false, hasStray = false } = {},
): Promise<Fixture> {
  const clock = new VirtualClock()
  const store = new ScriptedStore()
  const sent: (readonly [number, string])[] = []
  const { push } = store.calls
  store.calls.push = (...calls) => {
    for (const call of calls) {
      sent.push([clock.now(), call.method])
      if (fails) call.fail(reset)
    }
    return push.apply(store.calls, calls)
  }
  const cleanup = new GrantCleanup({ ...rules, ttl }, store, clock)
  cleanup.add('mine', left, hasStray)
  await Promise.resolve()
  return { clock, store, cleanup, sent: () => sent }
}

describe('a grant left in the store', () => {
  it('is known by its id, until it is released', async () => {
    const { clock, store, cleanup } = await setUp(grant)
    expect([cleanup.isEmpty, cleanup.has('mine'), cleanup.has('other'), cleanup.has(undefined)]).toEqual([
      false,
      true,
      false,
      false,
    ])
    expect(store.last('release').grantId).toBe('mine')
    store.last('release').answer('yes')
    await clock.settle()
    expect([cleanup.isEmpty, cleanup.has('mine')]).toEqual([true, false])
    expect(clock.pending).toBe(0)
  })

  it('is nothing at first', () => {
    expect(new GrantCleanup(rules, new ScriptedStore(), new VirtualClock()).isEmpty).toBe(true)
  })

  it.each(['leased', 'breaking'] as const)('is released where a look finds it %s', async (state) => {
    const { clock, store, cleanup } = await setUp(undefined)
    store.last('read').answer({ ...ours, state })
    await clock.settle()
    store.last('release').answer({ released: false })
    await clock.settle()
    expect(cleanup.isEmpty).toBe(true)
  })

  it.each([
    { released: true, looks: 1 },
    { released: false, looks: 2 },
  ])('is released by its id when the record is locked without a known holder: %o', async ({ released, looks }) => {
    const { clock, store, cleanup, sent } = await setUp(undefined)
    for (let look = 1; look <= looks; look += 1) {
      store.last('read').answer(recordOf({ owner: '', grantId: '' }))
      await clock.settle()
      expect(store.last('release')).toMatchObject({ grantId: 'mine' })
      store.last('release').answer({ released })
      await clock.advance(LIMIT)
    }
    expect(cleanup.isEmpty).toBe(true)
    expect(sent().map(([, method]) => method)).toEqual(Array(looks).fill(['read', 'release']).flat())
  })

  it.each([undefined, recordOf(), { ...ours, state: 'expired' }, { ...ours, state: 'available' }])(
    'is looked for twice, and then taken for nothing: %#',
    async (record) => {
      const { clock, store, cleanup, sent } = await setUp(undefined)
      store.last('read').answer(record)
      await clock.advance(LIMIT - 1)
      expect(cleanup.has('mine')).toBe(true)
      await clock.advance(1)
      store.last('read').answer(record)
      await clock.advance(100 * LIMIT)
      expect(sent()).toEqual([
        [0, 'read'],
        [LIMIT, 'read'],
      ])
      expect(cleanup.isEmpty).toBe(true)
      expect(clock.pending).toBe(0)
    },
  )
})

describe('taking back from a store that fails', () => {
  it('goes on, ever more seldom, until the grant has expired by itself', async () => {
    const { clock, cleanup, sent } = await setUp(grant, { fails: true })
    await clock.advance(rules.ttl - 1)
    expect(sent().map(([at]) => at)).toEqual([0, 1_000, 3_000, 7_000])
    expect(cleanup.isEmpty).toBe(false)
    await clock.advance(1_000_000)
    expect(sent().map(([at]) => at)).toEqual([0, 1_000, 3_000, 7_000, rules.ttl])
    expect(cleanup.isEmpty).toBe(true)
    expect(clock.pending).toBe(0)
  })

  it('is given up at the very instant at which the grant has expired', async () => {
    const { clock, cleanup } = await setUp(grant, { ttl: 7_000, fails: true })
    await clock.advance(6_999)
    expect(cleanup.isEmpty).toBe(false)
    await clock.advance(1)
    expect(cleanup.isEmpty).toBe(true)
  })

  it('of a grant that never expires goes on for ten minutes, at least once a minute', async () => {
    const { clock, cleanup, sent } = await setUp(grant, { ttl: Number.POSITIVE_INFINITY, fails: true })
    await clock.advance(599_999)
    expect(cleanup.isEmpty).toBe(false)
    await clock.advance(1e7)
    const minutes = Array.from({ length: 9 }, (_, minute) => 63_000 + 60_000 * minute)
    expect(sent().map(([at]) => at)).toEqual([0, 1_000, 3_000, 7_000, 15_000, 31_000, ...minutes, 600_000])
    expect(cleanup.isEmpty).toBe(true)
  })

  it('ends a call that does not answer within the operation timeout, and says which it was', async () => {
    const { clock, store, cleanup } = await setUp(undefined)
    const settled = expect(cleanup.settle()).rejects.toThrow("read of lease 'job' did not answer within 1000 ms")
    const { call } = store.last('read')
    await clock.advance(LIMIT - 1)
    expect(call.aborted).toBe(false)
    await clock.advance(1)
    expect(call.aborted).toBe(true)
    expect(call.signal.reason).toBeInstanceOf(LeaseTimeoutError)
    await settled
  })

  it('names the release that does not answer', async () => {
    const { clock, cleanup } = await setUp(grant)
    const settled = expect(cleanup.settle()).rejects.toThrow("release of lease 'job' did not answer")
    await clock.advance(LIMIT)
    await settled
  })
})

describe('settling what is left', () => {
  it('tries at once, without waiting for the next pause, and tells what failed', async () => {
    const { clock, store, cleanup } = await setUp(grant)
    store.last('release').fail(reset)
    await clock.advance(10)
    const settled = cleanup.settle()
    expect(store.count('release')).toBe(2)
    store.last('release').fail(reset)
    await expect(settled).rejects.toMatchObject({ code: 'unavailable', cause: reset })
    await clock.advance(2 * LIMIT - 1)
    expect(store.count('release')).toBe(2)
    await clock.advance(1)
    expect(store.count('release')).toBe(3)
  })

  it('shares the try that is under way', async () => {
    const { clock, store, cleanup } = await setUp(grant)
    const both = [cleanup.settle(), cleanup.settle()]
    expect(store.count('release')).toBe(1)
    store.last('release').answer('yes')
    await Promise.all(both)
    await clock.settle()
    expect(clock.pending).toBe(0)
  })

  it('tries all of it', async () => {
    const { store, cleanup } = await setUp(grant)
    cleanup.add('other', { ...grant, grantId: 'other' }, false)
    const settled = cleanup.settle()
    for (const call of store.calls) call.answer('yes')
    await settled
    expect(cleanup.isEmpty).toBe(true)
    expect(store.calls.map(({ grantId }) => grantId)).toEqual(['mine', 'other'])
  })
})

describe('a grant left twice under one id', () => {
  it('is one leftover: the later, which alone is tried again', async () => {
    const { clock, store, cleanup } = await setUp(undefined)
    store.last('read').answer(undefined)
    await clock.settle()
    cleanup.add('mine', grant, false)
    expect(clock.pending).toBe(0)
    await clock.settle()
    store.last('release').answer('yes')
    await clock.settle()
    expect(cleanup.isEmpty).toBe(true)
    await clock.advance(10 * LIMIT)
    expect(store.count('read')).toBe(1)
  })

  it('is still to be taken back where the earlier try ends', async () => {
    const { clock, store, cleanup } = await setUp(grant)
    const first = store.last('release')
    cleanup.add('mine', grant, false)
    await clock.settle()
    first.answer('yes')
    await clock.settle()
    expect(cleanup.has('mine')).toBe(true)
    store.last('release').answer('yes')
    await clock.settle()
    expect(cleanup.isEmpty).toBe(true)
    expect(clock.pending).toBe(0)
  })
})
