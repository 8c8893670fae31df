import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { createLease, type LeaseLost, MemoryLeaseStore, systemClock } from '@leasehold/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../core/test/support/held-lease.js'

const load = process.getBuiltinModule
const threads: Worker[] = []
/** The looks whether the thread is idle, which wait for their time. */
const looks: (() => void)[] = []

beforeEach(() => {
  class SeenWorker extends Worker {
    constructor(...args: ConstructorParameters<typeof Worker>) {
      super(...args)
      threads.push(this)
    }
  }
  useThreads(SeenWorker)
  const { schedule } = systemClock
  vi.spyOn(systemClock, 'schedule').mockImplementation((delay, task) => {
    if (delay !== 10_000) return schedule(delay, task)
    looks.push(task)
    return () => {}
  })
})

afterEach(async () => {
  for (const look of looks.splice(0)) look()
  vi.restoreAllMocks()
  for (const thread of threads.splice(0)) await thread.terminate()
})

/** The class of threads from now on. Other modules are as they are. */
function useThreads(Worker: unknown): void {
  const seen = (id: string) => (id === 'node:worker_threads' ? { Worker } : load.call(process, id as 'node:fs'))
  vi.spyOn(process, 'getBuiltinModule').mockImplementation(seen as typeof load)
}

function breakThreads(): void {
  useThreads(
    class {
      constructor() {
        throw new Error('no threads here')
      }
    },
  )
}

const store = new MemoryLeaseStore()
const open = (name: string, selfFence?: 'kill') =>
  createLease(store, name, { selfFence, logger: silentLogger, owner: 'me', heartbeatTimeout: 60_000 })

describe('the thread of self-fenced leases', () => {
  it('is not started for leases without a self-fence, and once for all with one', async () => {
    await using plain = open('plain')
    await plain.acquire()
    expect(threads).toHaveLength(0)
    await using one = open('one', 'kill')
    await using two = open('two', 'kill')
    await Promise.all([one.acquire(), two.acquire()])
    await one.renew()
    expect(threads).toHaveLength(1)
  })

  it('ends when no grant needs it, and is started again', async () => {
    await using lease = open('idle', 'kill')
    await lease.acquire()
    looks.shift()?.()
    expect(looks).toHaveLength(1)
    await lease.release()
    const [thread] = threads
    if (thread === undefined) throw new Error('no thread')
    const ended = once(thread, 'exit')
    looks.shift()?.()
    expect(await ended).toEqual([0])
    await lease.acquire()
    expect(threads).toHaveLength(2)
    expect(lease.checkLease()).toBe(true)
  })

  it('is a loss of all grants if it dies, and is started again for the next', async () => {
    const leases = Array.from({ length: 100 }, (_, count) => open(`job ${count}`, 'kill'))
    const losses: LeaseLost[] = []
    for (const lease of leases) await lease.acquire({ onLost: (lost) => losses.push(lost) })
    await leases[0]?.release()
    await threads[0]?.terminate()
    expect(losses).toEqual(Array.from({ length: 99 }, () => ({ reason: 'closed' })))
    expect(leases.filter((lease) => lease.checkLease())).toEqual([])
    expect(await leases[0]?.acquire()).toBe(true)
    expect(threads).toHaveLength(2)
    await leases[0]?.release()
  })

  it('is awaited by a claim, which a release or a signal can end', async () => {
    const lease = open('awaited', 'kill')
    const acquired = lease.acquire()
    expect(await lease.release()).toBe(true)
    expect(await acquired).toBe(false)
    for (const thread of threads.splice(0)) await thread.terminate()
    const controller = new AbortController()
    const cancelled = lease.acquire({ signal: controller.signal })
    controller.abort(new Error('cancelled'))
    await expect(cancelled).rejects.toThrow('cancelled')
    expect(await lease.holder()).toBeUndefined()
  })

  it('is a loss if it cannot be started again while the lease waits', async () => {
    const holder = createLease(store, 'waited for', { owner: 'other' })
    await holder.acquire()
    const losses: LeaseLost[] = []
    const lease = open('waited for', 'kill')
    const acquired = lease.acquire({ wait: 60_000, onLost: (lost) => losses.push(lost) })
    await vi.waitUntil(() => lease.state === 'acquiring')
    looks.shift()?.()
    breakThreads()
    await holder.release()
    expect(await acquired).toBe(true)
    await vi.waitUntil(() => losses.length > 0)
    expect(losses).toEqual([{ reason: 'closed' }])
    expect(lease.checkLease()).toBe(false)
  })

  it('is an error of acquire if it cannot be started', async () => {
    breakThreads()
    await expect(open('none', 'kill').acquire()).rejects.toMatchObject({ code: 'unavailable', leaseName: 'none' })
    await expect(open('none', 'kill').acquire()).rejects.toThrow('could not be started: no threads here')
  })
})
