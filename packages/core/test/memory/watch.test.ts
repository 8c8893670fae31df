import { AbortableCall, type AcquireRequest, type LeaseRecord } from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { MemoryLeaseStore } from '../../src/memory/memory-lease-store.js'

const NAME = 'invoices'
const TTL = 15_000

/** A store; `heard` returns the waiters that were notified, in their order. */
class Scene {
  readonly clock = new VirtualClock()
  readonly store = new MemoryLeaseStore({ clock: this.clock })
  readonly call = new AbortableCall()
  readonly ended: string[] = []
  #heard: string[] = []

  async ask(who: string, request: Partial<AcquireRequest> = {}): Promise<boolean> {
    const full = { name: NAME, owner: who, grantId: who, ttl: TTL, queue: true, ...request }
    const { granted } = await this.store.acquire(full)
    return granted
  }

  async release(who: string): Promise<void> {
    await this.store.release({ name: NAME, owner: who, grantId: who, fencingToken: 1n, ttl: TTL })
  }

  /** Listens for a turn under the grant id `who`; as an `onlooker` to the name alone. */
  async listen(who: string): Promise<void> {
    const watch = this.store.watch(NAME, this.call, who.startsWith('onlooker') ? undefined : who)
    const listening = async (): Promise<void> => {
      for await (const _ of watch) this.#heard.push(who)
      this.ended.push(who)
    }
    void listening()
    await this.clock.settle()
  }

  /** Asks for a place and listens. */
  async wait(who: string, request: Partial<AcquireRequest> = {}): Promise<void> {
    await this.ask(who, request)
    await this.listen(who)
  }

  /** Who was woken since the last look. */
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

describe('a waiter in line is woken when it is his turn', () => {
  it.each([
    { how: 'released', free: (scene: Scene) => scene.release('holder') },
    { how: 'broken', free: (scene: Scene) => scene.store.break(NAME, { period: 0 }) },
    { how: 'deleted', free: (scene: Scene) => scene.store.delete(NAME) },
    { how: 'expired', free: (scene: Scene) => scene.clock.advance(TTL) },
  ])('the lease is $how: the first in line alone, and onlookers', async ({ free }) => {
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

  it('a lease that is renewed is not expired: its end is noticed when it comes', async () => {
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
    await scene.store.renew({ name: NAME, owner: 'holder', grantId: 'holder', fencingToken: 1n, ttl: TTL })
    await scene.clock.advance(TTL - 1)
    expect(await scene.heard()).toEqual([])
    await scene.clock.advance(1)
    expect(await scene.heard()).toEqual(['a'])
  })

  it('the one before him withdraws', async () => {
    const scene = await heldScene()
    for (const waiter of ['a', 'b', 'c']) await scene.wait(waiter, LONG)
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['a'])
    await scene.store.withdraw(NAME, 'c')
    expect(await scene.heard()).toEqual([])
    await scene.store.withdraw(NAME, 'a')
    expect(await scene.heard()).toEqual(['b'])
  })

  it('the one before him withdraws while the lease is held: not before it is free', async () => {
    const scene = await heldScene()
    for (const waiter of ['a', 'b']) await scene.wait(waiter, LONG)
    await scene.store.withdraw(NAME, 'a')
    expect(await scene.heard()).toEqual([])
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['b'])
  })

  it('the one before him does not come, and his place goes dead', async () => {
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

  it('the one before him goes dead while nobody notices: he is woken at the release', async () => {
    const scene = await heldScene()
    await scene.wait('a')
    await scene.wait('b', LONG)
    await scene.clock.advance(TTL)
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['b'])
  })

  it('again, when the lease was given to another and is free anew', async () => {
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
    const holder = { name: NAME, owner: 'holder', grantId: 'holder', fencingToken: 1n, ttl: TTL }
    await scene.store.change(holder, { grantId: 'x', owner: 'x' })
    expect(await scene.heard()).toEqual([])
    await scene.release('x')
    expect((await scene.heard()).toSorted()).toEqual(['a', 'onlooker'])
  })

  it('not a second time of the same turn', async () => {
    const scene = await heldScene()
    for (const waiter of ['a', 'b', 'onlooker']) await scene.wait(waiter, LONG)
    await scene.release('holder')
    await scene.heard()
    await scene.ask('b')
    await scene.ask('stranger', { queue: false })
    await scene.release('holder')
    expect(await scene.heard()).toEqual([])
  })

  it('a waiter without a place, when nobody is in line', async () => {
    const scene = await heldScene()
    await scene.listen('late')
    await scene.wait('a', LONG)
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['a'])
    await scene.store.withdraw(NAME, 'a')
    expect((await scene.heard()).toSorted()).toEqual(['a', 'late'])
  })
})

describe('a watch that begins', () => {
  it('yields at once where it is the turn of whoever listens', async () => {
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

  it('yields at once where there never was a lease', async () => {
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

  it('notices at once an expiry that nobody has looked at', async () => {
    const scene = await heldScene(TTL)
    await scene.clock.advance(TTL)
    await scene.listen('onlooker')
    expect(await scene.heard()).toEqual(['onlooker'])
  })
})

describe('what a watch yields', () => {
  it('is the record at the time when it is asked for, and one value for all that has happened', async () => {
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
  it('by its signal leaves nothing behind', async () => {
    const scene = await heldScene(TTL)
    for (const who of ['a', 'b', 'onlooker']) await scene.wait(who, LONG)
    expect(scene.left).toEqual({ timers: 1, listeners: 3 })
    scene.call.abort()
    await scene.clock.settle()
    expect(scene.ended.toSorted()).toEqual(['a', 'b', 'onlooker'])
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
  })

  it('by return leaves nothing behind, and ends a value that is waited for', async () => {
    const scene = await heldScene(TTL)
    const watch = scene.store.watch(NAME, scene.call, 'a')[Symbol.asyncIterator]()
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

  it('has a value left unread: it is not yielded any more', async () => {
    const scene = new Scene()
    const watch = scene.store.watch(NAME, scene.call)[Symbol.asyncIterator]()
    scene.call.abort()
    expect(await watch.next()).toEqual({ done: true, value: undefined })
  })

  it('ends at once where the signal has aborted before', async () => {
    const scene = await heldScene(TTL)
    scene.call.abort()
    await scene.listen('a')
    expect(scene.ended).toEqual(['a'])
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
  })

  it('leaves the timer to those who still listen, and it goes with the last', async () => {
    const scene = await heldScene(TTL)
    const watches = ['a', 'b'].map((who) => scene.store.watch(NAME, scene.call, who)[Symbol.asyncIterator]())
    await watches[0]?.return?.()
    expect(scene.left).toEqual({ timers: 1, listeners: 1 })
    await watches[1]?.return?.()
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
  })

  it('with the store, which leaves nothing behind', async () => {
    const scene = await heldScene(TTL)
    for (const who of ['a', 'b', 'onlooker']) await scene.wait(who, LONG)
    await scene.store.close()
    await scene.clock.settle()
    expect(scene.ended.toSorted()).toEqual(['a', 'b', 'onlooker'])
    expect(scene.left).toEqual({ timers: 0, listeners: 0 })
  })

  it('while others under the same grant id go on', async () => {
    const scene = await heldScene()
    const watch = scene.store.watch(NAME, scene.call, 'a')[Symbol.asyncIterator]()
    await scene.wait('a')
    await watch.return?.()
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['a'])
  })
})

describe('the timer of a watched name', () => {
  it('is one, however many listen', async () => {
    const scene = await heldScene(TTL)
    for (let place = 0; place < 100; place += 1) await scene.wait(`waiter ${place}`)
    expect(scene.clock.pending).toBe(1)
  })

  it('is none for a lease that never expires', async () => {
    const scene = await heldScene()
    await scene.wait('a')
    expect(scene.clock.pending).toBe(0)
  })

  it('is none for a free name that nobody stands in line for', async () => {
    const scene = await heldScene(TTL)
    await scene.listen('onlooker')
    await scene.release('holder')
    expect(await scene.heard()).toEqual(['onlooker'])
    expect(scene.clock.pending).toBe(0)
  })

  it('that comes late, after a blocked event loop, still wakes', async () => {
    const scene = await heldScene(TTL)
    await scene.wait('a', LONG)
    scene.clock.block(2 * TTL)
    expect(await scene.heard()).toEqual(['a'])
  })
})

describe('10,000 who listen under one signal', () => {
  it('are woken one at a time, without a warning of a leak, and leave nothing behind', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const scene = await heldScene()
    const heard: number[] = []
    const watches = Array.from({ length: 10_000 }, (_, place) => {
      void scene.ask(`${place}`, LONG)
      return scene.store.watch(NAME, scene.call, `${place}`)[Symbol.asyncIterator]()
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
