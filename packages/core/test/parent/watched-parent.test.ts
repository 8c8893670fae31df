import {
  breakLease,
  type CreateLeaseOptions,
  createLease,
  LeaseConfigurationError,
  LeaseConflictError,
  type LeaseLost,
  LeaseNameError,
  type LeaseRecord,
  MemoryLeaseStore,
  type StoreLease,
  watchParent,
} from '@leasehold/core'
import { AbortableCall, casStore } from '@leasehold/core/store'
import { validityOf } from '@leasehold/core/store-kit'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { MapRegister } from '../cas/map-register.js'
import { INTERVAL, LIMIT, silentLogger, TTL } from '../support/held-lease.js'

const GRACE = 3_000
const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: LIMIT }

interface Scene {
  readonly clock: VirtualClock
  readonly memory: MemoryLeaseStore
  /** The store as the process of the parent, and that of the child, reach it. */
  readonly parentStore: FaultyStore
  readonly childStore: FaultyStore
  readonly parent: StoreLease
  readonly child: StoreLease
  readonly losses: LeaseLost[]
  readonly other: StoreLease
}

function setUp(options: CreateLeaseOptions = { childGrace: GRACE }): Scene {
  const clock = new VirtualClock()
  const memory = new MemoryLeaseStore({ clock })
  const environment = { ...times, clock, logger: silentLogger, random: () => 0.5 }
  const parentStore = new FaultyStore(memory, { clock })
  const childStore = new FaultyStore(memory, { clock })
  const parent = createLease(parentStore, 'parent', { ...environment, owner: 'one', ...options })
  const watched = watchParent(childStore, 'parent', 'one')
  const child = createLease(memory, 'child', { ...environment, owner: 'two', parent: watched })
  const other = createLease(memory, 'parent', { ...environment, owner: 'other' })
  return { clock, memory, parentStore, childStore, parent, child, losses: [], other }
}

async function setUpHeld(): Promise<Scene> {
  const scene = setUp()
  await scene.parent.acquire()
  await scene.child.acquire({ onLost: (lost) => scene.losses.push(lost) })
  await scene.clock.settle()
  return scene
}

/** Lets time pass step by step; at none is the child valid when another owner has been granted the parent. */
async function pass({ clock, child, other }: Scene, duration: number): Promise<void> {
  const end = clock.now() + duration
  while (clock.now() < end) {
    await clock.advance(Math.min(10, end - clock.now()))
    expect(child.checkLease() && other.fencingToken !== undefined).toBe(false)
  }
}

function hang(store: FaultyStore, ...methods: ('read' | 'renewMany')[]): void {
  for (const method of methods) for (let count = 0; count < 100; count += 1) store.inject({ kind: 'hang' }, method)
}

describe('a child of a lease of another process', () => {
  it('is held while its parent is held', async () => {
    const scene = await setUpHeld()
    await pass(scene, 5 * TTL)
    expect(scene.child.checkLease()).toBe(true)
    expect(scene.child.remaining).toBeLessThan(GRACE)
    expect(scene.losses).toEqual([])
  })

  it('is not acquired while its parent is not held, or another owner holds it', async () => {
    const { child, parent, other } = setUp()
    await expect(child.acquire()).rejects.toThrow(LeaseConflictError)
    await other.acquire()
    await expect(child.acquire()).rejects.toThrow(LeaseConflictError)
    await other.release()
    await parent.acquire()
    expect(await child.acquire()).toBe(true)
  })

  it('reads the record once per heartbeat', async () => {
    const scene = await setUpHeld()
    let reads = 0
    const { read } = scene.memory
    scene.memory.read = (name, call) => {
      reads += 1
      return read.call(scene.memory, name, call)
    }
    await pass(scene, 10 * INTERVAL)
    expect(reads).toBe(10)
  })

  it('ends when the process of the parent dies, before a challenger is granted the parent', async () => {
    const scene = await setUpHeld()
    hang(scene.parentStore, 'renewMany')
    const acquired = scene.other.acquire({ wait: 3 * TTL })
    await pass(scene, 1.5 * TTL)
    expect(await acquired).toBe(true)
    expect(scene.losses).toEqual([{ reason: 'parent-lost' }])
  })

  it('ends after a release of the parent, before a challenger is granted the parent', async () => {
    const scene = await setUpHeld()
    hang(scene.childStore, 'read')
    const acquired = scene.other.acquire({ wait: 3 * TTL })
    expect(await scene.parent.release()).toBe(true)
    expect(scene.child.checkLease()).toBe(true)
    await pass(scene, GRACE + 10)
    expect(await acquired).toBe(true)
    expect(scene.losses).toEqual([{ reason: 'parent-lost' }])
  })

  it('ends when its parent was broken, and granted again to a request that arrived a second time', async () => {
    const scene = await setUpHeld()
    const { clock, memory } = scene
    hang(scene.parentStore, 'renewMany')
    const { owner, grantId = '', metadata } = (await memory.read('parent', new AbortableCall())) ?? {}
    await breakLease(memory, 'parent', { period: 0, clock })
    await memory.acquire(
      { name: 'parent', owner: owner ?? '', grantId, ttl: TTL, queue: false, metadata: metadata ?? {} },
      new AbortableCall(),
    )
    await pass(scene, INTERVAL)
    expect(await memory.read('parent', new AbortableCall())).toMatchObject({ grantId, state: 'leased' })
    expect(scene.losses).toEqual([{ reason: 'parent-lost' }])
  })

  it('ends at its next heartbeat after a release that it can see, and cannot be acquired meanwhile', async () => {
    const scene = await setUpHeld()
    await scene.parent.release()
    await pass(scene, INTERVAL)
    expect(scene.child.checkLease()).toBe(false)
    await expect(scene.child.acquire()).rejects.toThrow(LeaseConflictError)
    expect(await scene.parent.acquire()).toBe(false)
    await pass(scene, GRACE)
    expect(await scene.parent.acquire()).toBe(true)
    expect(await scene.child.acquire()).toBe(true)
  })

  it('ends before a challenger is granted a parent whose maxHold is over', async () => {
    const scene = setUp({ childGrace: GRACE, maxHold: TTL / 2 })
    await scene.parent.acquire()
    await scene.child.acquire()
    await pass(scene, 0.49 * TTL)
    hang(scene.childStore, 'read')
    const acquired = scene.other.acquire({ wait: 3 * TTL })
    await pass(scene, TTL)
    expect(await acquired).toBe(true)
    expect(scene.child.checkLease()).toBe(false)
  })

  it('is not valid after a pause in which its bound has passed, before any timer has run', async () => {
    const scene = await setUpHeld()
    scene.clock.pause('stopped')
    await scene.clock.advance(GRACE)
    expect(scene.child.checkLease()).toBe(false)
    scene.clock.resume()
  })

  it('counts on less time than the store shows, because another user of a shared clock may see less', async () => {
    const { clock, parent, parentStore, child } = setUp()
    await parent.acquire()
    hang(parentStore, 'renewMany')
    await clock.advance(TTL - 1_000)
    expect(await child.acquire()).toBe(true)
    // The record ends in a second. The clocks of a folder may differ by 40 ms.
    expect(child.remaining).toBeCloseTo(validityOf(1_000 - 40), 6)
  })

  it('is not acquired if it is released during the look at its parent', async () => {
    const { clock, parent, child, childStore } = setUp()
    await parent.acquire()
    childStore.inject({ kind: 'delay', duration: LIMIT / 2 }, 'read')
    const acquired = child.acquire()
    await clock.settle()
    expect(await child.release()).toBe(true)
    await clock.advance(LIMIT)
    expect(await acquired).toBe(false)
    expect([child.state, child.checkLease()]).toEqual(['idle', false])
  })

  it('survives reads that fail, as long as its bound lasts', async () => {
    const scene = await setUpHeld()
    scene.childStore.inject({ kind: 'fail-before' }, 'read')
    scene.childStore.inject({ kind: 'fail-after' }, 'read')
    await pass(scene, 2 * TTL)
    expect(scene.child.checkLease()).toBe(true)
    expect(scene.losses).toEqual([])
  })

  it('does not count on a declaration of an earlier grant', async () => {
    const { parent, child, clock, other } = setUp()
    await parent.acquire()
    await parent.release()
    await clock.advance(GRACE)
    expect(await other.acquire()).toBe(true)
    await other.release()
    const plain = setUp({})
    await plain.parent.acquire({ metadata: { childGrace: '3000 of-another-grant' } })
    await expect(plain.child.acquire()).rejects.toThrow(LeaseConfigurationError)
    await expect(child.acquire()).rejects.toThrow(LeaseConflictError)
  })

  it('needs a parent that declares a grace', async () => {
    const { parent, child } = setUp({})
    await parent.acquire()
    await expect(child.acquire()).rejects.toThrow(LeaseConfigurationError)
    await expect(child.acquire()).rejects.toThrow('create it with { childGrace }')
  })

  it('needs a store in which the time left is the same for all challengers', () => {
    const store = casStore(new MapRegister(), { clock: new VirtualClock() })
    const watch = (): unknown => watchParent(store, 'parent', 'one')
    expect(watch).toThrow(LeaseConfigurationError)
    expect(watch).toThrow('each challenger times the holder by itself')
    expect(watch).toThrow('Keep the parent in a store that tells the time left')
  })

  it('needs a store that tells the time left, whether or not the parent declares a grace', async () => {
    for (const options of [{ childGrace: GRACE }, {}]) {
      const { parent, child, childStore } = setUp(options)
      const { read } = childStore
      const untimed: typeof read = async (...args) => {
        const { remaining: _, ...record } = (await read.apply(childStore, args)) ?? {}
        return record as LeaseRecord
      }
      Object.assign(childStore, { read: untimed })
      await parent.acquire()
      const error = await child.acquire().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(LeaseConfigurationError)
      expect(error).toMatchObject({ leaseName: 'parent', message: expect.stringContaining('how much time is left') })
      expect(error).toMatchObject({ message: expect.stringContaining('or hold parent and child in the same process') })
    }
  })

  it('has a name and an owner that are valid, and another name', () => {
    const { memory } = setUp()
    expect(() => watchParent(memory, '', 'one')).toThrow(LeaseNameError)
    const parent = watchParent(memory, 'parent', 'one')
    expect(parent).toMatchObject({ name: 'parent', owner: 'one' })
    expect(() => createLease(memory, 'parent', { parent })).toThrow('would stand under itself')
  })
})

describe('a lease with childGrace', () => {
  it('keeps the metadata of its holder, and shows the next holder what that left', async () => {
    const { parent, other, clock, memory } = setUp()
    await parent.acquire({ metadata: { position: '7' } })
    expect(await parent.update({ position: '8' })).toBe(true)
    expect((await memory.read('parent'))?.metadata).toMatchObject({ position: '8' })
    await parent.release({ metadata: { position: '9' } })
    await clock.advance(GRACE)
    await other.acquire()
    expect(other.previous).toEqual({ position: '9' })
    await other.release()
    await parent.acquire()
    expect(parent.previous).toEqual({ position: '9' })
  })

  it('is freed once, when a release is repeated because its answer was lost', async () => {
    const { parent, parentStore, clock, other, memory } = setUp()
    await parent.acquire()
    parentStore.inject({ kind: 'fail-after' }, 'change')
    const released = parent.release()
    await clock.advance(LIMIT)
    expect(await released).toBe(true)
    expect((await memory.read('parent'))?.state).toBe('leased')
    await clock.advance(GRACE)
    expect(await other.acquire()).toBe(true)
  })

  it('cannot be handed off: the next holder would not wait for the children', async () => {
    const { parent } = setUp()
    await parent.acquire()
    await expect(parent.handOff()).rejects.toThrow(LeaseConfigurationError)
    expect(parent.checkLease()).toBe(true)
  })

  it('has a valid grace', () => {
    for (const childGrace of [0, -1, Number.NaN, TTL + 1, Number.POSITIVE_INFINITY]) {
      expect(() => setUp({ childGrace })).toThrow(LeaseConfigurationError)
    }
  })
})
