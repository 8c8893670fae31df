import { setTimeout as pause } from 'node:timers/promises'
import { type Grant, type LeaseStore, LeaseUnavailableError, MemoryLeaseStore } from '@leasehold/core'
import { createTimeMemory, SharedTime } from '@leasehold/core/internal'
import { AbortableCall } from '@leasehold/core/store'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { Keeper } from '../src/keeper.js'
import { KeptSlots } from '../src/kept-slots.js'
import type { KeepSpec, Refusal } from '../src/thread-messages.js'

/** Milliseconds. The heartbeat of the user is due after 500, and late after 600. A busy machine takes less for the rest. */
const VALIDITY = 2_000
const AFTER = 500
const WAITING = 30_000

const keepers: (() => void)[] = []
afterAll(() => {
  for (const stop of keepers.splice(0)) stop()
})

/** A store that counts the operations under way for each grant. */
class WatchedStore extends MemoryLeaseStore {
  renewals = 0
  underWay = 0
  most = 0
  /** What a heartbeat waits for, or fails with. */
  gate: Promise<void> = Promise.resolve()

  override async renew(...[grant, call]: Parameters<MemoryLeaseStore['renew']>) {
    this.renewals += 1
    return await this.#watched(async () => {
      await this.gate
      return await super.renew(grant, call)
    })
  }

  override async release(...args: Parameters<MemoryLeaseStore['release']>) {
    return await this.#watched(() => super.release(...args))
  }

  async #watched<T>(operation: () => Promise<T>): Promise<T> {
    this.underWay += 1
    this.most = Math.max(this.most, this.underWay)
    try {
      return await operation()
    } finally {
      this.underWay -= 1
    }
  }
}

/** One renewal at a time, as of a store without `renewMany`. */
function oneByOne(store: WatchedStore): LeaseStore {
  return new Proxy(store, {
    get: (target, key) => {
      if (key === 'renewMany') return undefined
      const value: unknown = Reflect.get(target, key, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function setUp(given: Partial<KeepSpec> = {}) {
  const time = new SharedTime(createTimeMemory(), 'writer')
  time.showUser()
  const slots = new KeptSlots()
  const refused: Refusal[] = []
  const keeper = new Keeper(time, slots, (_slot, outcome) => void refused.push(outcome))
  const store = new WatchedStore()
  const request = { name: 'job', owner: 'me', grantId: '4e7d1d5a-6a94-4c4e-8f4e-1d9f0a3f5b11', ttl: 10_000 }
  const outcome = await store.acquire(request, new AbortableCall())
  if (!outcome.granted) throw new Error('not granted')
  const { grant } = outcome
  const slot = slots.take()
  const confirmedAt = time.now()
  const timing = { confirmedAt, validity: VALIDITY, holdUntil: Number.POSITIVE_INFINITY, heartbeatAfter: AFTER }
  const spec: KeepSpec = { slot, grant, ...timing, timeout: 100, unresponsiveAfter: 60_000, fence: undefined, ...given }
  const single = oneByOne(store)
  keeper.keep(spec, single)
  keepers.push(() => keeper.unkeep(slot))
  const pass = (method: 'renew' | 'release', call = new AbortableCall(1_000)): Promise<unknown> =>
    keeper.pass(method, [grant], call, async () => await single[method](grant, call))
  return { time, slots, slot, keeper, store, grant, refused, pass, confirmedAt }
}

/** The same, over a store whose heartbeats wait until it is opened. */
async function setUpGated() {
  const fixture = await setUp({ timeout: 10_000, validity: 20_000 })
  let open = (): void => {}
  fixture.store.gate = new Promise((resolve) => {
    open = resolve
  })
  return { ...fixture, open: () => open() }
}

describe.concurrent('a kept grant', () => {
  it('is renewed when the heartbeat of its user is late, and its validity counts from the sending', async () => {
    const { time, slots, slot, store, confirmedAt } = await setUp()
    await vi.waitUntil(() => slots.ownAt(slot) > 0, WAITING)
    expect(slots.ownAt(slot)).toBeGreaterThanOrEqual(confirmedAt + AFTER)
    expect(slots.ownAt(slot)).toBeLessThan(time.now())
    expect(store.renewals).toBe(1)
  })

  it('is valid from the sending of a heartbeat that is answered late', async () => {
    const { time, slots, slot, store, open } = await setUpGated()
    await vi.waitUntil(() => store.renewals === 1, WAITING)
    const later = time.now()
    await pause(50)
    open()
    await vi.waitUntil(() => slots.ownAt(slot) > 0, WAITING)
    expect(slots.ownAt(slot)).toBeLessThanOrEqual(later)
  })

  it('is not renewed any more when its keeping has ended', async () => {
    const { keeper, store, slot } = await setUp()
    keeper.unkeep(slot)
    await pause(VALIDITY)
    expect(store.renewals).toBe(0)
  })

  it('is renewed by the keeper only when its user does not do it', async () => {
    const { slots, slot, pass, time, store } = await setUp()
    for (const end = time.now() + 3 * VALIDITY; time.now() < end; await pause(AFTER / 4)) {
      expect(await pass('renew')).toEqual({ renewed: true })
    }
    expect(slots.passedAt(slot)).toBeGreaterThan(0)
    expect(slots.ownAt(slot)).toBe(0)
    expect(store.most).toBe(1)
  })

  it('has one operation under way: that of its user waits for that of the keeper', async () => {
    const { store, pass, open } = await setUpGated()
    await vi.waitUntil(() => store.renewals === 1, WAITING)
    const renewed = pass('renew')
    await pause(50)
    expect(store.renewals).toBe(1)
    open()
    expect(await renewed).toEqual({ renewed: true })
    expect(store.most).toBe(1)
  })

  it('is not renewed any more when it is released, and a heartbeat that is under way then changes nothing', async () => {
    const { store, slots, slot, pass, open } = await setUpGated()
    await vi.waitUntil(() => store.renewals === 1, WAITING)
    expect(await pass('release')).toMatchObject({ released: true })
    open()
    await pause(3 * AFTER)
    expect(store.renewals).toBe(1)
    expect([slots.ownAt(slot), slots.isRefused(slot)]).toEqual([0, false])
  })

  it('is over for its user from the instant of a refusal, which is reported', async () => {
    const { store, slots, slot, refused } = await setUp()
    await store.break('job', { period: 0 }, new AbortableCall())
    await vi.waitUntil(() => refused.length > 0, WAITING)
    expect(slots.isRefused(slot)).toBe(true)
    expect(refused).toMatchObject([{ renewed: false, reason: 'broken' }])
    const { renewals } = store
    await pause(3 * AFTER)
    expect(store.renewals).toBe(renewals)
  })

  it('is over for its user if the store refuses a heartbeat of the user', async () => {
    const { store, slots, slot, refused, pass } = await setUp()
    await store.break('job', { period: 0 }, new AbortableCall())
    expect(await pass('renew')).toMatchObject({ renewed: false })
    expect(slots.isRefused(slot)).toBe(true)
    expect(refused).toEqual([])
  })

  it('is renewed again after a failure, within the validity that is left', async () => {
    const { store, slots, slot, confirmedAt } = await setUp()
    store.gate = Promise.reject(new LeaseUnavailableError('down'))
    store.gate.catch(() => {})
    await vi.waitUntil(() => store.renewals > 1, WAITING)
    store.gate = Promise.resolve()
    await vi.waitUntil(() => slots.ownAt(slot) > 0, WAITING)
    expect(slots.ownAt(slot)).toBeLessThan(confirmedAt + VALIDITY)
  })

  it('is not renewed after the end of its validity, nor after maxHold', async () => {
    const expired = await setUp({ validity: 0 })
    const held = await setUp({ holdUntil: 0 })
    await pause(VALIDITY)
    expect([expired.store.renewals, held.store.renewals]).toEqual([0, 0])
  })

  it('is not renewed while its user shows no sign of life for too long', async () => {
    const { time, store, slots, slot } = await setUp({ unresponsiveAfter: 400 })
    await vi.waitUntil(() => slots.isUnresponsive(slot), WAITING)
    expect(store.renewals).toBe(0)
    time.showUser()
    await vi.waitUntil(() => slots.ownAt(slot) > 0, WAITING)
    expect(slots.isUnresponsive(slot)).toBe(false)
  })

  it('is renewed although a heartbeat of its user hangs, when the time of that is over', async () => {
    const { store, slots, slot, pass } = await setUp()
    store.gate = new Promise(() => {})
    const call = new AbortableCall(150)
    void pass('renew', call)
    await vi.waitUntil(() => store.renewals === 1, WAITING)
    store.gate = Promise.resolve()
    await vi.waitUntil(() => slots.ownAt(slot) > 0, WAITING)
    expect(call.aborted).toBe(true)
  })
})

it('grants of one store are renewed together, if the store can do that', async () => {
  const time = new SharedTime(createTimeMemory(), 'writer')
  time.showUser()
  const slots = new KeptSlots()
  const keeper = new Keeper(time, slots, () => {})
  const store = new MemoryLeaseStore()
  const batches: (readonly Grant[])[] = []
  const { renewMany } = store
  vi.spyOn(store, 'renewMany').mockImplementation(async (grants, call) => {
    batches.push(grants)
    return await renewMany.call(store, grants, call)
  })
  const confirmedAt = time.now()
  const taken = await Promise.all(
    ['a', 'b', 'c'].map(async (name) => {
      const grantId = `4e7d1d5a-6a94-4c4e-8f4e-1d9f0a3f5b1${name}`
      const outcome = await store.acquire({ name, owner: 'me', grantId, ttl: 10_000 }, new AbortableCall())
      if (!outcome.granted) throw new Error('not granted')
      const slot = slots.take()
      const timing = { confirmedAt, validity: VALIDITY, holdUntil: Number.POSITIVE_INFINITY, heartbeatAfter: AFTER }
      const other = { timeout: 100, unresponsiveAfter: 60_000, fence: undefined }
      keeper.keep({ slot, grant: outcome.grant, ...timing, ...other }, store)
      keepers.push(() => keeper.unkeep(slot))
      return slot
    }),
  )
  await vi.waitUntil(() => taken.every((slot) => slots.ownAt(slot) > 0), WAITING)
  expect(batches[0]?.map(({ name }) => name).toSorted()).toEqual(['a', 'b', 'c'])
})
