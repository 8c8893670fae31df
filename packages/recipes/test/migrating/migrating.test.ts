import { createLease, LeaseHeldError, type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import type { Schedule } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'
import { closeMonth } from './advisory-lock.js'
import { cleanUpNightly } from './agenda.js'
import { fetchRates } from './bullmq.js'
import { startController } from './client-go.js'
import { downloads, rebuild } from './redis-semaphore.js'
import { withdraw } from './redlock.js'
import { sendDigests } from './set-nx.js'
import { sendInvoices } from './shedlock.js'

describe('the programs of the migration pages', () => {
  it('redlock: two withdrawals of one account follow each other, under growing tokens', async () => {
    const store = new MemoryLeaseStore()
    let balance = 10
    const tokens: bigint[] = []
    const accounts = {
      read: async () => balance,
      write: async (_: string, written: number, token: bigint) => {
        balance = written
        tokens.push(token)
      },
    }
    await Promise.all([1, 2, 3].map((amount) => withdraw(store, accounts, 'anna', amount)))
    expect(balance).toBe(4)
    expect(tokens).toHaveLength(3)
    expect(tokens).toEqual([...tokens].sort((a, b) => Number(a - b)))
  })

  it('redis-semaphore: one rebuilds, and three download', async () => {
    const store = new MemoryLeaseStore()
    let [running, most] = [0, 0]
    const work = async () => {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      running -= 1
    }
    await Promise.all([rebuild(store, work), rebuild(store, work)])
    expect(most).toBe(1)
    const run = downloads(store)
    await Promise.all(Array.from({ length: 6 }, () => run(work)))
    expect(most).toBeLessThanOrEqual(3)
  })

  it('advisory locks: the second process is refused while the first one is at it', async () => {
    const store = new MemoryLeaseStore()
    const refused: boolean[] = []
    const closed = await closeMonth(store, async () => {
      refused.push(await closeMonth(store, async () => {}))
    })
    expect({ closed, refused }).toEqual({ closed: true, refused: [false] })
    await expect(closeMonth(store, () => Promise.reject(new Error('no rates')))).rejects.toThrow('no rates')
  })

  const schedules: [string, (store: LeaseStore, work: () => Promise<void>) => Schedule, RegExp][] = [
    ['SET NX PX', sendDigests, /T0[67]:00:00/],
    ['BullMQ', fetchRates, /:00\.000Z$/],
    ['Agenda', cleanUpNightly, /T03:00:00/],
    ['ShedLock', sendInvoices, /:(00|15|30|45):00\.000Z$/],
  ]

  it.each(schedules)('%s: one of two instances runs the tick', async (_, start, next) => {
    const store = new MemoryLeaseStore()
    let runs = 0
    const work = async () => {
      runs += 1
    }
    await using first = start(store, work)
    await using _second = start(store, work)
    expect((await first.read()).next?.toISOString()).toMatch(next)
    await first.runNow()
    await expect.poll(() => first.read().then(({ last }) => last?.outcome), { timeout: 20_000 }).toBe('done')
    expect(runs).toBe(1)
  })

  it('client-go: one instance leads, and another one after it has stopped', async () => {
    const store = new MemoryLeaseStore()
    const led: string[] = []
    const start = (pod: string) =>
      startController(store, pod, async (signal) => {
        led.push(pod)
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      })
    await using first = start('pod-1')
    await expect.poll(() => led, { timeout: 20_000 }).toEqual(['pod-1'])
    await using _second = start('pod-2')
    await first.stop()
    await expect.poll(() => led, { timeout: 20_000 }).toEqual(['pod-1', 'pod-2'])
  })

  it('a lease that is held for longer than wait is refused', async () => {
    const store = new MemoryLeaseStore()
    await createLease(store, 'close-month').acquire()
    await expect(createLease(store, 'close-month').run(async () => {})).rejects.toThrow(LeaseHeldError)
  })
})
