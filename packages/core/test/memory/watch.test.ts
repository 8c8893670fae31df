import type { LeaseRecord } from '@leasehold/core'
import { AbortableCall, type AcquireRequest } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { MemoryLeaseStore } from '../../src/memory/memory-lease-store.js'
import { guidOf } from '../support/guid-of.js'

const NAME = 'invoices'
const TTL = 15_000

/** A store; `heard` returns the waiters that were notified, in their order. */
class Scene {
  readonly clock = new VirtualClock()
  readonly store = new MemoryLeaseStore({ clock: this.clock })
  readonly call = new AbortableCall()
  readonly ended: string[] = []
  #heard: string[] = []

  async ask(waiter: string, request: Partial<AcquireRequest> = {}): Promise<boolean> {
    const full = { name: NAME, owner: waiter, grantId: guidOf(waiter), ttl: TTL, queue: true, ...request }
    const { granted } = await this.store.acquire(full)
    return granted
  }

  async release(waiter: string): Promise<void> {
    await this.store.release({ name: NAME, owner: waiter, grantId: guidOf(waiter), fencingToken: 1n, ttl: TTL })
  }

  /** Listens for a turn under the grant id `waiter`; as an `onlooker` to the name alone. */
  async listen(waiter: string): Promise<void> {
    const watch = this.store.watch(NAME, this.call, waiter.startsWith('onlooker') ? undefined : guidOf(waiter))
    const listening = async (): Promise<void> => {
      for await (const _ of watch) this.#heard.push(waiter)
      this.ended.push(waiter)
    }
    void listening()
    await this.clock.settle()
  }

  /** Asks for a place and listens. */
  async wait(waiter: string, request: Partial<AcquireRequest> = {}): Promise<void> {
    await this.ask(waiter, request)
    await this.listen(waiter)
  }

  /** The waiters that were notified since the last call. */
  async heard(): Promise<readonly string[]> {
    await this.clock.settle()
    const heard = this.#heard
    this.#heard = []
    return heard
  }

  get left(): { timers: number; listeners: number } {
    return { timers: this.clock.pending, listeners: this.call.listeners }
  }
}

async function heldScene(ttl = Number.POSITIVE_INFINITY): Promise<Scene> {
  const scene = new Scene()
  await scene.ask('holder', { ttl })
  return scene
}

const LONG = { ttl: 600_000 }

describe('a waiter in the queue is notified of its turn', () => {
  it.each([
    { how: 'released', free: (scene: Scene) => scene.release('holder') },
    { how: 'broken', free: (scene: Scene) => scene.store.break(NAME, { period: 0 }) },
    { how: 'deleted', free: (scene: Scene) => scene.store.delete(NAME) },
    { how: 'expired', free: (scene: Scene) => scene.clock.advance(TTL) },
  ])('the lease is $how: only the first waiter, and onlookers', async ({ free }) => {
    const scene = await heldScene(TTL)
    for (const waiter of ['a', 'b', 'onlooker', 'c']) await scene.wait(waiter, LONG)
    expect(await scene.heard()).toEqual([])
    await free(scene)
    expect((await scene.heard()).toSorted()).toEqual(['a', 'onlooker'])
  })

  it('a break period is over', async () => {
    const scene = await heldScene()
    await scene.wait('a', LONG)
    await scene.wait('onlooker', { queue: false })
    await scene.store.break(NAME, { period: 5_000 })
    await scene.clock.advance(4_999)
    expect(await scene.heard()).toEqual([])
    await scene.clock.advance(1)
    expect((await scene.heard()).toSorted()).toEqual(['a', 'onlooker'])
  })

  it('a lease that is renewed is not expired, but ends later', async () => {
    const scene = await heldScene(TTL)
    await scene.wait('a', LONG)
    await scene.clock.advance(10_000)
    await scene.ask('holder')
    await scene.clock.advance(TTL - 1)
    expect(await scene.heard()).toEqual([])
    await scene.clock.advance(1)
    expect(await scene.heard()).toEqual(['a'])
  })

  it('a lease whose duration was shortened ends sooner', async () => {
    const scene = await heldScene(TTL)
    await scene.wait('a', LONG)
    await scene.ask('holder', { ttl: 1_000 })
    await scene.clock.advance(1_000)
    expect(await scene.heard()).toEqual(['a'])
  })

  it('a lease that was renewed after its expiry ends again', async () => {
    const scene = await heldScene(TTL)
    await scene.wait('a', LONG)
    await scene.clock.advance(TTL)
    expect(await scene.heard()).toEqual(['a'])
    await scene.store.renew({ name: NAME, owner: 'holder', grantId: guidOf('holder'), fencingToken: 1n, ttl: TTL })
    await scene.clock.advance(TTL - 1)
    expect(await scene.heard()).toEqual([])
    await scene.clock.advance(1)
    expect(await scene.heard()).toEqual(['a'])
  })

  it('the waiter before it withdraws', async () => {
    const scene = await heldScene()
    for (const waiter of ['a', 'b', 'c']) await scene.wait(waiter, LONG)
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['a'])
    await scene.store.withdraw(NAME, guidOf('c'))
    expect(await scene.heard()).toEqual([])
    await scene.store.withdraw(NAME, guidOf('a'))
    expect(await scene.heard()).toEqual(['b'])
  })

  it('the waiter before it withdraws while the lease is held: not before the name is free', async () => {
    const scene = await heldScene()
    for (const waiter of ['a', 'b']) await scene.wait(waiter, LONG)
    await scene.store.withdraw(NAME, guidOf('a'))
    expect(await scene.heard()).toEqual([])
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['b'])
  })

  it('the waiter before it does not ask, and its place ends', async () => {
    const scene = await heldScene()
    await scene.wait('a')
    await scene.wait('b', LONG)
    await scene.wait('c', LONG)
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['a'])
    await scene.clock.advance(TTL - 1)
    expect(await scene.heard()).toEqual([])
    await scene.clock.advance(1)
    expect(await scene.heard()).toEqual(['b'])
  })

  it('the place before it ends while the lease is held: at the release', async () => {
    const scene = await heldScene()
    await scene.wait('a')
    await scene.wait('b', LONG)
    await scene.clock.advance(TTL)
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['b'])
  })

  it('again, when the name was held by another and is free again', async () => {
    const scene = await heldScene()
    for (const waiter of ['a', 'b']) await scene.wait(waiter, LONG)
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['a'])
    expect(await scene.ask('a')).toBe(true)
    expect(await scene.heard()).toEqual([])
    await scene.release('a')
    expect(await scene.heard()).toEqual(['b'])
  })

  it('not by a change, for the name is never free in between', async () => {
    const scene = await heldScene()
    for (const waiter of ['a', 'onlooker']) await scene.wait(waiter, LONG)
    const holder = { name: NAME, owner: 'holder', grantId: guidOf('holder'), fencingToken: 1n, ttl: TTL }
    await scene.store.change(holder, { grantId: guidOf('x'), owner: 'x' })
    expect(await scene.heard()).toEqual([])
    await scene.release('x')
    expect((await scene.heard()).toSorted()).toEqual(['a', 'onlooker'])
  })

  it('not twice of the same turn', async () => {
    const scene = await heldScene()
    for (const waiter of ['a', 'b', 'onlooker']) await scene.wait(waiter, LONG)
    await scene.release('holder')
    await scene.heard()
    await scene.ask('b')
    await scene.ask('stranger', { queue: false })
    await scene.release('holder')
    expect(await scene.heard()).toEqual([])
  })

  it('a waiter without a place, if the queue is empty', async () => {
    const scene = await heldScene()
    await scene.listen('late')
    await scene.wait('a', LONG)
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['a'])
    await scene.store.withdraw(NAME, guidOf('a'))
    expect((await scene.heard()).toSorted()).toEqual(['a', 'late'])
  })
})

describe('a watch that begins', () => {
  it('yields at once if it is the turn of its waiter', async () => {
    const scene = await heldScene()
    await scene.ask('a', LONG)
    await scene.ask('b', LONG)
    await scene.release('holder')
    await scene.listen('b')
    expect(await scene.heard()).toEqual([])
    await scene.listen('a')
    await scene.listen('onlooker')
    expect(await scene.heard()).toEqual(['a', 'onlooker'])
  })

  it('yields at once if there never was a lease', async () => {
    const scene = new Scene()
    await scene.listen('onlooker')
    await scene.listen('a')
    expect(await scene.heard()).toEqual(['onlooker', 'a'])
  })

  it('does not yield at once while the lease is held', async () => {
    const scene = await heldScene()
    await scene.listen('onlooker')
    await scene.listen('a')
    expect(await scene.heard()).toEqual([])
  })

  it('yields at once after an expiry that no operation has seen yet', async () => {
    const scene = await heldScene(TTL)
    await scene.clock.advance(TTL)
    await scene.listen('onlooker')
    expect(await scene.heard()).toEqual(['onlooker'])
  })
})

describe('the value of a watch', () => {
  it('is the record at the time of the call, one value for all changes before it', async () => {
    const scene = await heldScene()
    const watch = scene.store.watch(NAME, scene.call)[Symbol.asyncIterator]()
    const first = watch.next()
    await scene.release('holder')
    expect(await first).toMatchObject({ done: false, value: { state: 'available', owner: 'holder' } })
    await scene.ask('a')
    await scene.release('a')
    await scene.ask('b')
    await scene.store.break(NAME, { period: 0 })
    expect(await watch.next()).toMatchObject({ done: false, value: { state: 'broken', owner: 'b' } })
    const pending = watch.next()
    expect(watch.next()).toBe(pending)
    await scene.ask('c')
    await scene.store.delete(NAME)
    const gone: IteratorResult<LeaseRecord | undefined> = { done: false, value: undefined }
    expect(await pending).toEqual(gone)
  })
})

describe('a watch that ends', () => {
  it('by its call leaves nothing behind', async () => {
    const scene = await heldScene(TTL)
    for (const waiter of ['a', 'b', 'onlooker']) await scene.wait(waiter, LONG)
    expect(scene.left).toEqual({ timers: 1, listeners: 3 })
    scene.call.abort()
    await scene.clock.settle()
    expect(scene.ended.toSorted()).toEqual(['a', 'b', 'onlooker'])
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
  })

  it('by return leaves nothing behind, and settles a pending call', async () => {
    const scene = await heldScene(TTL)
    const watch = scene.store.watch(NAME, scene.call, guidOf('a'))[Symbol.asyncIterator]()
    const pending = watch.next()
    expect(scene.left).toEqual({ timers: 1, listeners: 1 })
    await watch.return?.()
    expect(await pending).toEqual({ done: true, value: undefined })
    expect(await watch.next()).toEqual({ done: true, value: undefined })
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
  })

  it('by leaving the loop leaves nothing behind', async () => {
    const scene = new Scene()
    for await (const record of scene.store.watch(NAME, scene.call)) {
      expect(record).toBeUndefined()
      break
    }
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
  })

  it('does not yield a value that was not read', async () => {
    const scene = new Scene()
    const watch = scene.store.watch(NAME, scene.call)[Symbol.asyncIterator]()
    scene.call.abort()
    expect(await watch.next()).toEqual({ done: true, value: undefined })
  })

  it('ends at once if the call was aborted before', async () => {
    const scene = await heldScene(TTL)
    scene.call.abort()
    await scene.listen('a')
    expect(scene.ended).toEqual(['a'])
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
  })

  it('keeps the timer for other watches, and the last one removes it', async () => {
    const scene = await heldScene(TTL)
    const watches = ['a', 'b'].map((waiter) =>
      scene.store.watch(NAME, scene.call, guidOf(waiter))[Symbol.asyncIterator](),
    )
    await watches[0]?.return?.()
    expect(scene.left).toEqual({ timers: 1, listeners: 1 })
    await watches[1]?.return?.()
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
  })

  it('with the store, which leaves nothing behind', async () => {
    const scene = await heldScene(TTL)
    for (const waiter of ['a', 'b', 'onlooker']) await scene.wait(waiter, LONG)
    await scene.store.close()
    await scene.clock.settle()
    expect(scene.ended.toSorted()).toEqual(['a', 'b', 'onlooker'])
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
  })

  it('does not end others with the same grant id', async () => {
    const scene = await heldScene()
    const watch = scene.store.watch(NAME, scene.call, guidOf('a'))[Symbol.asyncIterator]()
    await scene.wait('a')
    await watch.return?.()
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['a'])
  })
})

describe('the timer of a watched name', () => {
  it('is one for any number of watches', async () => {
    const scene = await heldScene(TTL)
    for (let place = 0; place < 100; place += 1) await scene.wait(`waiter ${place}`)
    expect(scene.clock.pending).toBe(1)
  })

  it('is none for a lease that never expires', async () => {
    const scene = await heldScene()
    await scene.wait('a')
    expect(scene.clock.pending).toBe(0)
  })

  it('is none for a free name with an empty queue', async () => {
    const scene = await heldScene(TTL)
    await scene.listen('onlooker')
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['onlooker'])
    expect(scene.clock.pending).toBe(0)
  })

  it('that runs late, after a blocked event loop, still notifies', async () => {
    const scene = await heldScene(TTL)
    await scene.wait('a', LONG)
    scene.clock.block(2 * TTL)
    expect(await scene.heard()).toEqual(['a'])
  })
})

describe('10,000 watches with one call', () => {
  it('are notified one at a time, without a warning of a leak, and leave nothing behind', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const scene = await heldScene()
    const heard: number[] = []
    const watches = Array.from({ length: 10_000 }, (_, place) => {
      void scene.ask(`${place}`, LONG)
      return scene.store.watch(NAME, scene.call, guidOf(`${place}`))[Symbol.asyncIterator]()
    })
    const ends = watches.map(async (watch, place) => {
      for (let turn = await watch.next(); turn.done !== true; turn = await watch.next()) heard.push(place)
    })
    await scene.release('holder')
    for (let place = 0; place < 100; place += 1) {
      await scene.clock.settle()
      expect(heard).toEqual(Array.from({ length: place + 1 }, (_, earlier) => earlier))
      expect(await scene.ask(`${place}`, LONG)).toBe(true)
      await scene.release(`${place}`)
    }
    scene.call.abort()
    await Promise.all(ends)
    process.off('warning', onWarning)
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
    expect(warnings).toEqual([])
  })
})
