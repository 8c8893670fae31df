import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Worker } from 'node:worker_threads'
import {
  createLease,
  type LeaseLost,
  type LeaseStore,
  LeaseTimeoutError,
  LeaseUnavailableError,
  MemoryLeaseStore,
  systemClock,
} from '@leasehold/core'
import { HeartbeatThread, type HeartbeatThreadOptions } from '@leasehold/heartbeat-thread'
import { silentLogger, temporaryFolder } from '@leasehold/testing'
import { afterEach, beforeEach, describe, expect, it, type TestContext, vi } from 'vitest'
import { postInThread } from './readme/heartbeat-thread.js'
import { block } from './support/block.js'
import { seeThreads } from './support/seen-threads.js'

/** Milliseconds; far more than a busy machine takes for a heartbeat. */
const TTL = 3_000

const faulty = `${new URL('support/faulty-lease.ts', import.meta.url).pathname}#faultyLease`

let threads: Worker[]

beforeEach(() => {
  threads = seeThreads()
})

afterEach(async () => {
  vi.restoreAllMocks()
  for (const thread of threads) await thread.terminate()
})

async function openThread(test: TestContext, options: HeartbeatThreadOptions = {}): Promise<LeaseStore> {
  const thread = new HeartbeatThread(options)
  test.onTestFinished(() => thread.close())
  return await thread.open({ leaseClass: faulty })
}

function leaseOver(store: LeaseStore, name: string, unresponsiveAfter?: number) {
  const losses: LeaseLost[] = []
  const lease = createLease(store, name, { heartbeatTimeout: TTL, unresponsiveAfter, logger: silentLogger })
  const acquire = (): Promise<boolean> => lease.acquire({ onLost: (lost) => losses.push(lost) })
  return { lease, losses, acquire }
}

describe('a blocked main thread', () => {
  it('is no cause of losses for the objective of a lease that a thread keeps', async (test) => {
    const objective = { failover: TTL, falseLossesPerYear: 1 }
    const lease = createLease(await openThread(test), 'guided', { objective, logger: silentLogger })
    expect(await lease.acquire()).toBe(true)
    for (let heartbeat = 0; heartbeat < 40; heartbeat += 1) await lease.renew()
    expect(lease.advice?.forecast).toBeDefined()
    const token = lease.fencingToken
    block(2 * TTL)
    expect(lease.checkLease()).toBe(true)
    // Enough heartbeats for the next forecast.
    for (let heartbeat = 0; heartbeat < 40; heartbeat += 1) await lease.renew()
    expect(lease.fencingToken).toBe(token)
    expect(lease.advice?.kept).toBe(true)
    await lease.release()
  })

  it('keeps a lease whose heartbeats are sent by a thread, and loses another', async (test) => {
    const own = leaseOver(new MemoryLeaseStore(), 'own')
    const threaded = leaseOver(await openThread(test), 'threaded')
    expect([await own.acquire(), await threaded.acquire()]).toEqual([true, true])
    const token = threaded.lease.fencingToken
    block(2 * TTL)
    expect([own.lease.checkLease(), threaded.lease.checkLease()]).toEqual([false, true])
    expect(threaded.lease.remaining).toBeGreaterThan(0)
    expect(threaded.lease.remaining).toBeLessThan(TTL)
    expect(await threaded.lease.renew()).toBe(true)
    expect(threaded.losses).toEqual([])
    expect(threaded.lease.fencingToken).toBe(token)
    expect(await threaded.lease.release()).toBe(true)
  })

  it('keeps it for unresponsiveAfter, and then loses it, as its first instruction sees', async (test) => {
    const store = await openThread(test)
    const short = leaseOver(store, 'short', TTL / 3)
    const long = leaseOver(store, 'long')
    expect([await short.acquire(), await long.acquire()]).toEqual([true, true])
    block(3 * TTL)
    expect([short.lease.checkLease(), long.lease.checkLease()]).toEqual([false, true])
    expect(short.lease.remaining).toBe(0)
    expect(short.losses).toEqual([])
    await vi.waitUntil(() => short.losses.length > 0, 10_000)
    expect(short.losses).toEqual([{ reason: 'unresponsive' }])
    expect(await short.acquire()).toBe(true)
    await Promise.all([short.lease.release(), long.lease.release()])
  })

  it('that reacts again in time keeps its lease', async (test) => {
    const { lease, losses, acquire } = leaseOver(await openThread(test), 'pause', 100)
    await acquire()
    // Longer than unresponsiveAfter, shorter than the ttl: a heartbeat was due, and was not sent.
    block(TTL / 2)
    expect(lease.checkLease()).toBe(true)
    await new Promise((resolve) => lease.once('renewed', resolve))
    await sleep(TTL)
    expect(losses).toEqual([])
    expect(lease.checkLease()).toBe(true)
    await lease.release()
  })
})

describe('a heartbeat thread that dies', () => {
  // V8 grants a thread 16 MB more at its limit, to end it there. A young generation of that size could need it at once, which
  // would abort the whole process (nodejs/node#47224).
  const resourceLimits = { maxOldGenerationSizeMb: 48, maxYoungGenerationSizeMb: 2 }

  it.for([
    ['throws', 'the thread is ended by this'],
    ['memory', 'reaching memory limit'],
  ] as const)(
    '(%s) is a loss of its leases at once, and is started again for the next claim',
    async ([name, why], test) => {
      const store = await openThread(test, { resourceLimits })
      const held = leaseOver(store, 'held')
      await held.acquire()
      // The thread may need a while to fail.
      const failed = await createLease(store, name, { heartbeatTimeout: 20 * TTL, logger: silentLogger })
        .acquire()
        .catch((error: unknown) => error)
      expect(failed).toBeInstanceOf(LeaseUnavailableError)
      expect(failed).toMatchObject({ leaseName: name, store: 'memory', message: expect.stringContaining(why) })
      expect(held.lease.checkLease()).toBe(false)
      expect(held.losses).toEqual([{ reason: 'closed', cause: expect.any(LeaseUnavailableError) }])
      expect(String(held.losses[0]?.cause)).toContain(why)
      expect(held.lease.signal.aborted).toBe(true)
      // The store was in the memory of the thread.
      expect(await held.acquire()).toBe(true)
      expect(threads).toHaveLength(2)
      await held.lease.release()
    },
  )

  it('rejects what was asked of it', async (test) => {
    const store = await openThread(test)
    const held = leaseOver(store, 'held')
    await held.acquire()
    const waiter = leaseOver(store, 'held')
    const waited = waiter.lease.acquire({ wait: 60_000 }).catch((error: unknown) => error)
    await vi.waitUntil(() => waiter.lease.state === 'acquiring')
    const run = leaseOver(store, 'run').lease.run(() => new Promise(() => {}))
    const ran = run.catch((error: unknown) => error)
    await vi.waitUntil(async () => (await leaseOver(store, 'run').lease.holder()) !== undefined)
    const released = held.lease.release().catch((error: unknown) => error)
    await threads[0]?.terminate()
    expect(await released).toBeInstanceOf(LeaseUnavailableError)
    expect(await waited).toBeInstanceOf(LeaseUnavailableError)
    expect(await ran).toMatchObject({ code: 'lost', reason: 'closed' })
    expect(held.losses).toEqual([])
    expect([held.lease.state, waiter.lease.state]).toEqual(['idle', 'idle'])
  })

  it('(killed) leaves no other lease valid when the first loss is reported', async (test) => {
    const store = await openThread(test)
    const [first, second] = [leaseOver(store, 'first'), leaseOver(store, 'second')]
    expect([await first.acquire(), await second.acquire()]).toEqual([true, true])
    const seen: boolean[] = []
    first.lease.on('lost', () => seen.push(second.lease.checkLease()))
    second.lease.on('lost', () => seen.push(first.lease.checkLease()))
    await threads[0]?.terminate()
    expect(seen).toEqual([false, false])
  })

  it('or hangs, is ended when it is closed', async () => {
    const limits: (() => void)[] = []
    const { schedule } = systemClock
    vi.spyOn(systemClock, 'schedule').mockImplementation((delay, task) => {
      if (delay !== 18_000) return schedule(delay, task)
      limits.push(task)
      return () => {}
    })
    const thread = new HeartbeatThread()
    const store = await thread.open({ leaseClass: faulty })
    const hung = leaseOver(store, 'hangs')
      .acquire()
      .catch((error: unknown) => error)
    const closed = thread.close()
    expect(limits).toHaveLength(1)
    limits[0]?.()
    await closed
    expect(await hung).toBeInstanceOf(LeaseUnavailableError)
  })

  it('or hangs, does not keep a lease alive', async (test) => {
    const store = await openThread(test)
    const held = leaseOver(store, 'held')
    await held.acquire()
    const hung = leaseOver(store, 'hangs')
      .acquire()
      .catch((error: unknown) => error)
    await vi.waitUntil(() => held.losses.length > 0, 20_000)
    expect(held.losses).toMatchObject([{ reason: 'expired' }])
    expect(held.lease.checkLease()).toBe(false)
    expect(await hung).toBeInstanceOf(LeaseTimeoutError)
    await threads[0]?.terminate()
  })
})

describe('a caller that comes when the grant is on its way', () => {
  it('shares the grant, and hears of its loss', async (test) => {
    const { lease, losses, acquire } = leaseOver(await openThread(test), 'shared')
    const first = acquire()
    const acquired = vi.fn()
    lease.on('acquired', acquired)
    // The thread grants the lease meanwhile, and this one does not know it yet.
    await Promise.resolve()
    block(500)
    expect([await acquire(), await first]).toEqual([true, true])
    expect(acquired).toHaveBeenCalledOnce()
    expect(lease.checkLease()).toBe(true)
    expect(losses).toEqual([])
    await lease.close()
    expect(losses).toEqual([{ reason: 'closed' }, { reason: 'closed' }])
  })

  it('is a run that leaves the lease held', async (test) => {
    const { lease, acquire } = leaseOver(await openThread(test), 'shared run')
    const first = acquire()
    await Promise.resolve()
    block(500)
    const tokens = await lease.run(async ({ fencingToken }) => [fencingToken, lease.fencingToken])
    expect(tokens[0]).toBe(tokens[1])
    expect(await first).toBe(true)
    expect(lease.checkLease()).toBe(true)
    await lease.release()
  })
})

describe('a heartbeat thread', () => {
  it('keeps the lease of the example of its guide, over a provider that it loads', async (test) => {
    const thread = new HeartbeatThread()
    test.onTestFinished(() => thread.close())
    const folder = temporaryFolder(test)
    const held: unknown[] = []
    await postInThread(thread, folder, async () => {
      const store = await thread.open({ leaseClass: '@leasehold/local', options: { folder } })
      held.push(await createLease(store, 'ledger').acquire())
    })
    expect(held).toEqual([false])
  })

  it('passes on what a store rejects with', async (test) => {
    const failed = await leaseOver(await openThread(test), 'unavailable')
      .acquire()
      .catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(LeaseUnavailableError)
    expect(failed).toMatchObject({
      message: 'no store here',
      retryAfter: 5,
      cause: { name: 'RangeError', message: 'the first cause' },
    })
  })

  it('ends when no lease has needed it for a while, and is started again', async (test) => {
    const looks: (() => void)[] = []
    const { schedule } = systemClock
    vi.spyOn(systemClock, 'schedule').mockImplementation((delay, task) => {
      if (delay !== 10_000) return schedule(delay, task)
      looks.push(task)
      return () => {}
    })
    const store = await openThread(test)
    const { lease, acquire } = leaseOver(store, 'idle')
    await acquire()
    looks.shift()?.()
    expect(lease.checkLease()).toBe(true)
    await lease.release()
    const [worker] = threads
    if (worker === undefined) throw new Error('no thread')
    const exited = once(worker, 'exit')
    looks.shift()?.()
    await exited
    expect(await acquire()).toBe(true)
    expect(threads).toHaveLength(2)
    expect(lease.checkLease()).toBe(true)
    await lease.release()
  })

  it('ends its leases, releases them and ends when it is closed', async () => {
    const thread = new HeartbeatThread()
    const store = await thread.open({ leaseClass: faulty })
    const { lease, losses, acquire } = leaseOver(store, 'closed')
    await acquire()
    const [worker] = threads
    if (worker === undefined) throw new Error('no thread')
    const exited = once(worker, 'exit')
    await thread.close()
    await exited
    expect(losses).toEqual([{ reason: 'closed' }])
    expect(lease.checkLease()).toBe(false)
    expect(store.closed?.aborted).toBe(true)
    await expect(acquire()).rejects.toThrow("the memory store of lease 'closed' is closed")
    await expect(thread.open({ leaseClass: faulty })).rejects.toThrow('this HeartbeatThread is closed')
  })

  it('loses the leases over a store that is closed', async (test) => {
    const store = await openThread(test)
    const { lease, losses, acquire } = leaseOver(store, 'job')
    await acquire()
    await store.close()
    expect(losses).toEqual([{ reason: 'closed' }])
    expect(lease.state).toBe('idle')
    await expect(lease.holder()).rejects.toThrow('the memory store is closed')
  })
})
