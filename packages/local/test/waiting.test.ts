import { createLease } from '@leasehold/core'
import { temporaryFolder } from '@leasehold/testing'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { call, claim, granted, openStore, TTL } from './support/open-store.js'

const queue = { queue: true }

describe('the queue of a name', () => {
  it('serves first come, first served, also over two stores of one folder', async () => {
    const folder = temporaryFolder()
    const clock = new VirtualClock()
    const [a, b] = [openStore({ folder, clock }), openStore({ folder, clock })]
    const holder = await granted(claim(a, 'holder'))
    expect((await claim(b, 'first', queue)).granted).toBe(false)
    expect((await claim(a, 'second', queue)).granted).toBe(false)
    await a.release(holder, call)
    expect(await claim(a, 'hasty')).toEqual({ granted: false })
    expect(await claim(a, 'second', queue)).toEqual({ granted: false })
    const first = await granted(claim(b, 'first', queue))
    await b.release(first, call)
    expect((await claim(a, 'second', queue)).granted).toBe(true)
  })

  it('skips waiters that have withdrawn, or have not repeated the request for a ttl', async () => {
    const clock = new VirtualClock()
    const store = openStore({ folder: temporaryFolder(), clock })
    const holder = await granted(claim(store, 'holder', { ttl: 10 * TTL }))
    for (const waiter of ['silent', 'withdrawn', 'patient']) await claim(store, waiter, queue)
    await store.withdraw('job', 'withdrawn', call)
    clock.block(TTL)
    await claim(store, 'patient', queue)
    await store.release(holder, call)
    expect((await claim(store, 'patient', queue)).granted).toBe(true)
  })

  it('puts a waiter whose place has ended behind the others', async () => {
    const clock = new VirtualClock()
    const store = openStore({ folder: temporaryFolder(), clock })
    const holder = await granted(claim(store, 'holder', { ttl: 10 * TTL }))
    await claim(store, 'silent', queue)
    clock.block(TTL - 1)
    for (const waiter of ['second', 'third']) await claim(store, waiter, queue)
    clock.block(1)
    await store.release(holder, call)
    // Another request finds that the first place has ended.
    expect((await claim(store, 'third', queue)).granted).toBe(false)
    expect((await claim(store, 'silent', queue)).granted).toBe(false)
    for (const waiter of ['second', 'third', 'silent']) {
      const grant = await granted(claim(store, waiter, queue))
      await store.release(grant, call)
    }
  })

  it('costs the same with 5,000 waiters as with 500', async () => {
    const store = openStore({ folder: temporaryFolder() })
    await claim(store, 'holder')
    const enqueue = async (from: number, count: number): Promise<number> => {
      const before = process.cpuUsage()
      for (let place = from; place < from + count; place += 1) await claim(store, `waiter ${place}`, queue)
      const { user, system } = process.cpuUsage(before)
      return (user + system) / count
    }
    const early = await enqueue(0, 500)
    await enqueue(500, 4_000)
    const late = await enqueue(4_500, 500)
    expect(late / early).toBeLessThan(4)
  })
})

describe('a watch', () => {
  it('notifies the next waiter of a release, across stores, and leaves nothing behind', async () => {
    const folder = temporaryFolder()
    const [a, b] = [openStore({ folder }), openStore({ folder })]
    const holder = createLease(a, 'job')
    const waiter = createLease(b, 'job')
    await holder.acquire()
    const acquired = waiter.acquire({ wait: 60_000 })
    await new Promise((resolve) => setImmediate(resolve))
    await holder.release()
    expect(await acquired).toBe(true)
    await waiter.release()
  })

  it('notifies the next waiter when the first withdraws', async () => {
    const store = openStore({ folder: temporaryFolder(), clock: new VirtualClock() })
    const holder = await granted(claim(store, 'holder'))
    for (const waiter of ['first', 'second', 'third']) await claim(store, waiter, queue)
    await store.release(holder, call)
    const woken: string[] = []
    const watch = async (waiter: string): Promise<void> => {
      const { done } = await store.watch('job', call, waiter)[Symbol.asyncIterator]().next()
      if (done !== true) woken.push(waiter)
    }
    const [second] = [watch('second'), void watch('third')]
    await store.withdraw('job', 'first', call)
    await second
    await store.read('job', call)
    expect(woken).toEqual(['second'])
  })

  it('without a place in the queue is notified of a release by another store, before it looks by itself', async () => {
    const folder = temporaryFolder()
    const clock = new VirtualClock()
    const [a, b] = [openStore({ folder, clock }), openStore({ folder, clock })]
    const holder = await granted(claim(a, 'holder'))
    const woken = b.watch('job', call)[Symbol.asyncIterator]().next()
    // After the request of the watch.
    await b.read('job', call)
    await a.release(holder, call)
    expect(await woken).toMatchObject({ done: false, value: { state: 'available' } })
  })

  it('notifies the next waiter when another finds that the first place has ended', async () => {
    const clock = new VirtualClock()
    const store = openStore({ folder: temporaryFolder(), clock })
    const holder = await granted(claim(store, 'holder'))
    await claim(store, 'first', { ...queue, ttl: TTL / 2 })
    await claim(store, 'second', queue)
    await store.release(holder, call)
    const woken = store.watch('job', call, 'second')[Symbol.asyncIterator]().next()
    await store.read('job', call)
    // The timer of the watch does not run.
    clock.block(TTL / 2)
    expect((await claim(store, 'hasty')).granted).toBe(false)
    expect(await woken).toMatchObject({ done: false, value: { state: 'available' } })
  })

  it('notifies the next waiter at the instant at which the first place ends', async () => {
    const clock = new VirtualClock()
    const store = openStore({ folder: temporaryFolder(), clock })
    const holder = await granted(claim(store, 'holder'))
    await claim(store, 'first', { ...queue, ttl: 300 })
    await claim(store, 'second', queue)
    await store.release(holder, call)
    const woken: number[] = []
    const next = store.watch('job', call, 'second')[Symbol.asyncIterator]().next()
    void next.then(() => woken.push(clock.now()))
    const start = clock.now()
    await clock.advance(299)
    expect(woken).toEqual([])
    await clock.advance(1)
    await next
    expect(woken).toEqual([start + 300])
  })

  it('notifies of the expiry of the holder', async () => {
    const clock = new VirtualClock()
    const store = openStore({ folder: temporaryFolder(), clock })
    await claim(store, 'silent')
    const waiter = createLease(store, 'job', { clock })
    const acquired = waiter.acquire({ wait: Number.POSITIVE_INFINITY })
    await clock.advance(TTL - 100)
    expect(waiter.checkLease()).toBe(false)
    await clock.advance(1_200)
    expect(waiter.checkLease()).toBe(true)
    await acquired
    await waiter.release()
    // The last timers run.
    await clock.advance(50)
    expect(clock.pending).toBe(0)
  })

  it('causes no warning for thousands of waiters with one signal', async () => {
    const warnings: Error[] = []
    const onWarning = (warning: Error): void => void warnings.push(warning)
    process.on('warning', onWarning)
    const store = openStore({ folder: temporaryFolder() })
    const holder = createLease(store, 'job')
    await holder.acquire()
    const controller = new AbortController()
    const waits = Array.from({ length: 2_000 }, () =>
      createLease(store, 'job').acquire({ wait: Number.POSITIVE_INFINITY, signal: controller.signal }),
    )
    await new Promise((resolve) => setImmediate(resolve))
    controller.abort('closing')
    const outcomes = await Promise.allSettled(waits)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    await holder.release()
    process.off('warning', onWarning)
    expect(warnings).toEqual([])
  })
})
