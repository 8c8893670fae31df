import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { systemClock } from '@leasehold/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { fromSource } from '../../heartbeat-thread/test/support/thread-options.js'
import { createTimeMemory, SharedTime } from '../src/time/shared-time.js'

afterEach(() => void vi.restoreAllMocks())

describe('the time that threads share', () => {
  it('is the same in another thread, which began later', async () => {
    const memory = createTimeMemory()
    const reader = new SharedTime(memory, 'reader')
    const program = new URL('support/time-thread.ts', import.meta.url)
    const worker = new Worker(program, { ...fromSource, workerData: memory })
    await once(worker, 'message')
    for (let round = 0; round < 20; round += 1) {
      const before = reader.now()
      worker.postMessage('now')
      const [there] = (await once(worker, 'message')) as [number]
      const after = reader.now()
      // The look there was in between, on one axis.
      expect(there).toBeGreaterThan(before - 0.1)
      expect(there).toBeLessThanOrEqual(after)
    }
    await worker.terminate()
  })

  it('goes on, never back, and a pause makes a deadline earlier, never later', () => {
    const time = new SharedTime(createTimeMemory(), 'reader')
    let last = time.now()
    for (let look = 0; look < 10_000; look += 1) {
      const now = time.now()
      expect(now).toBeGreaterThanOrEqual(last)
      last = now
    }
    const instant = systemClock.now() + 1_000
    const there = time.fromSystem(instant)
    expect(there - time.now()).toBeLessThanOrEqual(instant - systemClock.now() + 0.5)
    expect(time.toSystem(there)).toBeLessThanOrEqual(instant)
  })

  it('counts a suspend for all threads, as soon as one has seen it', () => {
    const memory = createTimeMemory()
    const [first, second] = [new SharedTime(memory, 'reader'), new SharedTime(memory, 'writer')]
    const before = second.now()
    let suspended = 60_000
    const now = systemClock.now.bind(systemClock)
    vi.spyOn(systemClock, 'now').mockImplementation(() => now() + suspended)
    vi.spyOn(systemClock, 'suspended').mockImplementation(() => suspended)
    expect(first.now()).toBeGreaterThan(before + 60_000)
    // The other thread has not seen it itself.
    suspended = 0
    expect(second.now()).toBeGreaterThan(before + 60_000)
    expect(second.now()).toBeLessThan(before + 70_000)
  })

  it('has the signs of life of both threads', () => {
    const memory = createTimeMemory()
    const [user, thread] = [new SharedTime(memory, 'reader'), new SharedTime(memory, 'writer')]
    expect(thread.userSilence).toBeGreaterThan(1)
    user.showUser()
    expect(thread.userSilence).toBeLessThan(60_000)
    expect(user.threadSeenAt).toBe(0)
    const before = thread.now()
    thread.showThread()
    expect(user.threadSeenAt).toBeGreaterThanOrEqual(before)
  })
})
