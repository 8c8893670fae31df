import {
  type CreateLeaseOptions,
  createLease,
  Lease,
  LeaseConfigurationError,
  LeaseConflictError,
  type LeaseLost,
  LeaseLostError,
  LeaseSettings,
  type LeaseStore,
  MemoryLeaseStore,
  type StoreLease,
} from '@leasehold/core'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'
import { INTERVAL, LIMIT, silentLogger, TTL } from '../support/held-lease.js'
import { ThreeMethods } from '../support/three-methods.js'

interface Family {
  readonly clock: VirtualClock
  readonly memory: MemoryLeaseStore
  readonly parentStore: FaultyStore
  readonly childStore: FaultyStore
  readonly parent: StoreLease
  readonly child: StoreLease
  readonly losses: LeaseLost[]
  readonly create: (store: LeaseStore, name: string, options?: CreateLeaseOptions) => StoreLease
}

function setUp(options: CreateLeaseOptions = {}): Family {
  const clock = new VirtualClock()
  const memory = new MemoryLeaseStore({ clock })
  const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT }
  const environment = { clock, logger: silentLogger, random: () => 0.5 }
  const create = (store: LeaseStore, name: string, given: CreateLeaseOptions = {}): StoreLease =>
    createLease(store, name, { owner: 'me', ...times, ...environment, ...given })
  const [parentStore, childStore] = [new FaultyStore(memory, { clock }), new FaultyStore(memory, { clock })]
  const parent = create(parentStore, 'parent', options)
  const child = create(childStore, 'child', { parent })
  return { clock, memory, parentStore, childStore, parent, child, losses: [], create }
}

async function setUpHeld(options: CreateLeaseOptions = {}): Promise<Family> {
  const family = setUp(options)
  await family.parent.acquire()
  await family.child.acquire({ onLost: (lost) => family.losses.push(lost) })
  await family.clock.settle()
  return family
}

/** Lets time pass step by step, and checks at each that no child is valid without its parent. */
async function pass({ clock, parent, child }: Family, duration: number): Promise<void> {
  const end = clock.now() + duration
  while (clock.now() < end) {
    await clock.advance(Math.min(20, end - clock.now()))
    expect(child.checkLease() && !parent.checkLease()).toBe(false)
    expect(child.remaining).toBeLessThanOrEqual(parent.remaining)
  }
}

function holderOf(store: MemoryLeaseStore, name: string): Promise<string | undefined> {
  return store.read(name).then((record) => (record?.state === 'leased' ? record.owner : undefined))
}

describe('a child', () => {
  it('is acquired while its parent is valid, and both are renewed', async () => {
    const family = await setUpHeld()
    await pass(family, 5 * TTL)
    expect(family.child.checkLease()).toBe(true)
    expect(family.losses).toEqual([])
  })

  it('is not acquired while its parent is not held', async () => {
    const { child, childStore, parent } = setUp()
    await expect(child.acquire()).rejects.toThrow(LeaseConflictError)
    await expect(child.acquire()).rejects.toThrow("its parent 'parent' is not held")
    await expect(child.run(async () => {})).rejects.toThrow(LeaseConflictError)
    expect(childStore.inProgress).toBe(0)
    expect(child.state).toBe('idle')
    await parent.acquire()
    expect(await child.acquire()).toBe(true)
  })

  it('has no more validity left than its parent', async () => {
    const family = await setUpHeld()
    for (let count = 0; count < 100; count += 1) family.parentStore.inject({ kind: 'hang' }, 'renewMany')
    await pass(family, 0.9 * TTL)
    expect(family.parent.remaining).toBeLessThan(0.2 * TTL)
    expect(family.child.remaining).toBe(family.parent.remaining)
  })

  it('is lost at once with its parent, before the callback of the parent', async () => {
    const { parent, child, clock, memory, losses } = await setUpHeld()
    const seen: unknown[] = []
    await parent.acquire({ onLost: ({ reason }) => seen.push(reason, child.checkLease(), child.signal.aborted) })
    const { signal } = child
    await memory.break('parent', { period: 0 })
    await clock.advance(2 * INTERVAL)
    expect(seen).toEqual(['broken', false, true])
    expect(losses).toEqual([{ reason: 'parent-lost' }])
    expect(signal.reason).toMatchObject({ reason: 'parent-lost' })
    expect(await holderOf(memory, 'child')).toBeUndefined()
  })

  it('is not valid after a blocked event loop in which the parent expired, before any timer has run', async () => {
    const { clock, parent, child, create, memory } = await setUpHeld()
    const long = create(memory, 'long', { parent, heartbeatTimeout: 10 * TTL })
    await long.acquire()
    await clock.settle()
    clock.pause('stopped')
    const passing = clock.advance(1.5 * TTL)
    await passing
    expect(parent.checkLease()).toBe(false)
    expect(child.checkLease()).toBe(false)
    expect(long.checkLease()).toBe(false)
    expect(long.remaining).toBe(0)
    clock.resume()
    await clock.advance(INTERVAL)
    expect(long.state).toBe('idle')
  })

  it('does not come back when its parent is acquired again', async () => {
    const { clock, parent, child, losses, memory } = await setUpHeld()
    await memory.break('parent', { period: 0 })
    await clock.advance(2 * INTERVAL)
    expect(await parent.acquire()).toBe(true)
    expect(child.checkLease()).toBe(false)
    await clock.advance(TTL)
    expect(losses).toHaveLength(1)
    expect(await child.acquire()).toBe(true)
    expect(child.checkLease()).toBe(true)
  })

  it('releases a grant that arrives after the loss of its parent', async () => {
    const { clock, memory, parent, child, childStore } = setUp()
    await parent.acquire()
    childStore.inject({ kind: 'answer-late', duration: LIMIT / 2 }, 'acquire')
    const acquired = child.acquire()
    const rejected = expect(acquired).rejects.toMatchObject({ name: 'LeaseLostError', reason: 'parent-lost' })
    await clock.advance(1)
    await parent.close()
    await rejected
    expect(child.checkLease()).toBe(false)
    await clock.advance(4 * LIMIT)
    expect(child.checkLease()).toBe(false)
    expect(await holderOf(memory, 'child')).toBeUndefined()
  })

  it('ends its run with its parent', async () => {
    const { clock, memory, parent, child } = setUp()
    await parent.acquire()
    const running = expect(child.run(() => new Promise(() => {}))).rejects.toMatchObject({ reason: 'parent-lost' })
    await clock.settle()
    await memory.break('parent', { period: 0 })
    await clock.advance(2 * INTERVAL)
    await running
  })

  it('stays held when it is released and acquired again under the same grant of the parent', async () => {
    const { parent, child, clock } = await setUpHeld()
    expect(await child.release()).toBe(true)
    expect(parent.checkLease()).toBe(true)
    expect(await child.acquire()).toBe(true)
    await clock.advance(3 * TTL)
    expect(child.checkLease()).toBe(true)
  })

  it('of a lease that is also its ancestor is a configuration error', () => {
    const { memory, create } = setUp()
    const root = create(memory, 'root')
    const middle = create(memory, 'middle', { parent: root })
    expect(() => create(memory, 'root', { parent: root })).toThrow(LeaseConfigurationError)
    expect(() => create(memory, 'root', { parent: middle })).toThrow('would stand under itself')
    expect(create(new MemoryLeaseStore(), 'root', { parent: middle }).checkLease()).toBe(false)
  })

  it('of something that is no lease is a configuration error', () => {
    const { memory, create } = setUp()
    for (const parent of [{}, 'parent', null, 1, () => {}]) {
      expect(() => create(memory, 'child', { parent: parent as never })).toThrow(LeaseConfigurationError)
    }
  })
})

describe('the release of a parent', () => {
  it('releases its children first', async () => {
    const family = await setUpHeld()
    const { memory, parent, child, losses, childStore, clock } = family
    childStore.inject({ kind: 'answer-late', duration: LIMIT / 2 }, 'release')
    const released = parent.release()
    expect(parent.checkLease()).toBe(false)
    expect(child.checkLease()).toBe(false)
    await clock.advance(LIMIT / 4)
    expect(await holderOf(memory, 'parent')).toBe('me')
    await clock.advance(LIMIT / 2)
    expect(await released).toBe(true)
    expect(await holderOf(memory, 'child')).toBeUndefined()
    expect(await holderOf(memory, 'parent')).toBeUndefined()
    expect(losses).toEqual([])
  })

  it('goes on when the release of a child is given up, and the child is not valid', async () => {
    const { clock, memory, parent, child, childStore } = await setUpHeld()
    for (let count = 0; count < 100; count += 1) childStore.inject({ kind: 'hang' }, 'release')
    const released = parent.release()
    expect(child.checkLease()).toBe(false)
    await clock.advance(0.9 * LIMIT)
    expect(await holderOf(memory, 'parent')).toBe('me')
    await clock.advance(LIMIT)
    expect(await released).toBe(true)
    expect(await holderOf(memory, 'parent')).toBeUndefined()
    expect(child.checkLease()).toBe(false)
  })

  it('rejects an attempt of a child, whose grant is given back before the parent is free', async () => {
    const { clock, memory, parent, child, childStore } = setUp()
    await parent.acquire()
    childStore.inject({ kind: 'answer-late', duration: LIMIT / 2 }, 'acquire')
    const rejected = expect(child.acquire({ wait: TTL })).rejects.toMatchObject({ reason: 'parent-lost' })
    await clock.advance(1)
    const released = parent.release()
    await rejected
    await clock.advance(4 * LIMIT)
    expect(await released).toBe(true)
    expect(await holderOf(memory, 'child')).toBeUndefined()
  })

  it('is shared by later calls, and the parent can be acquired again', async () => {
    const { clock, parent, child, childStore } = await setUpHeld()
    childStore.inject({ kind: 'answer-late', duration: LIMIT / 2 }, 'release')
    const [one, other, again] = [parent.release(), parent.release(), parent.acquire()]
    await clock.advance(2 * LIMIT)
    expect(await Promise.all([one, other, again])).toEqual([true, true, true])
    expect(parent.checkLease()).toBe(true)
    expect(child.checkLease()).toBe(false)
    expect(await child.acquire()).toBe(true)
  })

  it('is the same for a hand-off: the children end, and are acquired again under the adopted lease', async () => {
    const { memory, parent, child, create, clock } = await setUpHeld()
    const handingOff = parent.handOff({ owner: 'next' })
    expect(child.checkLease()).toBe(false)
    const handOff = await handingOff
    expect(await holderOf(memory, 'child')).toBeUndefined()
    const next = create(memory, 'parent', { owner: 'next' })
    const childOfNext = create(memory, 'child', { owner: 'next', parent: next })
    await expect(childOfNext.acquire()).rejects.toThrow(LeaseConflictError)
    expect(await next.adopt(handOff)).toBe(true)
    expect(await childOfNext.acquire()).toBe(true)
    await clock.advance(2 * TTL)
    expect(childOfNext.checkLease()).toBe(true)
  })

  it('waits no longer when the store of the parent is closed meanwhile', async () => {
    const { clock, memory, parent, childStore } = await setUpHeld()
    childStore.inject({ kind: 'hang' }, 'release')
    const released = expect(parent.release()).rejects.toMatchObject({ code: 'unavailable' })
    await memory.close()
    await clock.advance(3 * LIMIT)
    await released
  })
})

describe('a chain', () => {
  it('ends from the inside when its root is lost, and releases from the inside', async () => {
    const family = await setUpHeld()
    const { clock, memory, parent, child, create } = family
    const grandchild = create(memory, 'grandchild', { parent: child })
    const lost: string[] = []
    await child.acquire({ onLost: ({ reason }) => lost.push(`child ${reason}`) })
    await grandchild.acquire({ onLost: ({ reason }) => lost.push(`grandchild ${reason}`) })
    await memory.break('parent', { period: 0 })
    await clock.advance(2 * INTERVAL)
    expect(lost).toEqual(['grandchild parent-lost', 'child parent-lost'])
    expect(await parent.acquire()).toBe(true)
    expect(await child.acquire()).toBe(true)
    expect(await grandchild.acquire()).toBe(true)
    const order: string[] = []
    for (const lease of [parent, child, grandchild]) lease.on('released', () => order.push(lease.settings.name))
    await parent.release()
    expect(order).toEqual(['grandchild', 'child', 'parent'])
  })

  it('of thirty leases is checked in one pass', async () => {
    const { memory, create } = setUp()
    let last = create(memory, '0')
    await last.acquire()
    for (let depth = 1; depth <= 30; depth += 1) {
      last = create(memory, String(depth), { parent: last })
      await last.acquire()
    }
    expect(last.checkLease()).toBe(true)
    expect(last.remaining).toBeGreaterThan(0)
  })
})

describe('a parent with three methods', () => {
  it('is acquired first, and its loss ends the child', async () => {
    const { memory, create } = setUp()
    const parent = new ThreeMethods()
    const child = create(memory, 'child', { parent })
    await expect(child.acquire()).rejects.toThrow(LeaseConflictError)
    await parent.acquire()
    const losses: LeaseLost[] = []
    expect(await child.acquire({ onLost: (lost) => losses.push(lost) })).toBe(true)
    parent.lose({ reason: 'expired' })
    expect(child.checkLease()).toBe(false)
    expect(losses).toEqual([{ reason: 'parent-lost' }])
    await parent.acquire()
    expect(child.checkLease()).toBe(false)
  })

  it('is released after its children', async () => {
    const { memory, childStore, clock, create } = setUp()
    const parent = new ThreeMethods()
    const children = ['one', 'other'].map((name) => create(childStore, name, { parent }))
    await parent.acquire()
    for (const child of children) await child.acquire()
    childStore.inject({ kind: 'delay', duration: LIMIT / 2 }, 'release')
    const seen: unknown[] = []
    parent.beforeRelease = async () => {
      seen.push(await holderOf(memory, 'one'), await holderOf(memory, 'other'))
    }
    const released = parent.release()
    expect(children.map((child) => child.checkLease())).toEqual([false, false])
    await clock.advance(LIMIT)
    expect(await released).toBe(true)
    expect(seen).toEqual([undefined, undefined])
  })

  it('may be an object of any class, and is not valid when it fails', async () => {
    const { memory, create, clock } = setUp()
    let isHeld: unknown = true
    const parent = {
      acquire: async () => true,
      release: async () => true,
      checkLease: () => {
        if (isHeld === 'throws') throw new Error('of the parent')
        return isHeld as boolean
      },
    }
    const child = create(memory, 'child', { parent: parent as unknown as Lease })
    expect(await child.acquire()).toBe(true)
    expect(child.checkLease()).toBe(true)
    isHeld = 'throws'
    expect(child.checkLease()).toBe(false)
    isHeld = true
    expect(child.checkLease()).toBe(false)
    await clock.advance(2 * INTERVAL)
    expect(child.state).toBe('idle')
    expect(await child.acquire()).toBe(true)
  })

  it('ends all children before one of them hears of its release', async () => {
    const { memory, create } = setUp()
    const parent = { acquire: async () => true, release: async () => true, checkLease: () => true } as unknown as Lease
    const [one, two] = ['one', 'two'].map((name) => create(memory, name, { parent }))
    if (one === undefined || two === undefined) throw new Error('no children')
    const seen: boolean[] = []
    const working = [one, two].map((child, place) =>
      child.run(async ({ signal }) => {
        const other = place === 0 ? two : one
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            seen.push(other.checkLease())
            resolve()
          })
        })
      }),
    )
    const ended = Promise.allSettled(working)
    await vi.waitUntil(() => one.checkLease() && two.checkLease())
    await parent.release()
    await ended
    expect(seen).toEqual([false, false])
  })

  it('keeps the settings of a class that extends Lease', async () => {
    class Mine extends Lease {
      constructor() {
        super(new LeaseSettings({ name: 'mine' }))
      }
      acquire = async (): Promise<boolean> => true
      release = async (): Promise<boolean> => true
      checkLease = (): boolean => false
    }
    const { memory, create } = setUp()
    const child = create(memory, 'child', { parent: Object.freeze(new Mine()) as Lease })
    const error = await child.acquire().catch((failure: unknown) => failure)
    expect(error).toMatchObject({ code: 'conflict', leaseName: 'child' })
    expect(error).not.toBeInstanceOf(LeaseLostError)
  })
})
