import { getEventListeners } from 'node:events'
import { createLease, LeaseConflictError, LeaseHeldError } from '@leasehold/core'
import { describe, expect, it } from 'vitest'
import { silentLogger } from './support/held-lease.js'
import { pendingWork, setUpInMemory } from './support/runs.js'

describe('runs of one lease object', () => {
  it('do not overlap: the second waits for its turn, and gets its own grant', async () => {
    const { clock, lease } = setUpInMemory()
    const [first, second] = [pendingWork(), pendingWork()]
    const firstRun = lease.run(first.work)
    const secondRun = lease.run(second.work, { wait: Number.POSITIVE_INFINITY })
    await clock.settle()
    expect([first.started.length, second.started.length]).toEqual([1, 0])
    first.end('first')
    await clock.settle()
    expect(second.started.length).toBe(1)
    expect(second.started[0]?.fencingToken).toBeGreaterThan(first.started[0]?.fencingToken ?? 0n)
    second.end('second')
    expect(await Promise.all([firstRun, secondRun])).toEqual(['first', 'second'])
    expect(lease.checkLease()).toBe(false)
  })

  it('are served first come, first served', async () => {
    const { lease } = setUpInMemory()
    const order: number[] = []
    const runs = [0, 1, 2, 3].map((place) =>
      lease.run(
        async () => {
          order.push(place)
        },
        { wait: 1_000 },
      ),
    )
    await Promise.all(runs)
    expect(order).toEqual([0, 1, 2, 3])
  })

  it('reject at once with a LeaseHeldError that names this owner, without a wait', async () => {
    const { clock, lease } = setUpInMemory()
    const first = pendingWork()
    const firstRun = lease.run(first.work)
    await expect(lease.run(async () => 'never')).rejects.toMatchObject({ name: 'LeaseHeldError', holder: 'me' })
    first.end('first')
    expect(await firstRun).toBe('first')
    await clock.settle()
  })

  it('reject with a LeaseHeldError when the wait is over before their turn', async () => {
    const { clock, lease } = setUpInMemory()
    const first = pendingWork()
    const firstRun = lease.run(first.work)
    let began = false
    const late = lease.run(
      async () => {
        began = true
      },
      { wait: 1_000 },
    )
    const rejected = expect(late).rejects.toMatchObject({ name: 'LeaseHeldError', holder: 'me' })
    await clock.advance(1_000)
    await rejected
    first.end('first')
    await firstRun
    await clock.settle()
    expect(began).toBe(false)
    expect(await lease.run(async () => 'next')).toBe('next')
  })

  it('spend one wait on both their turn and the lease', async () => {
    const { clock, lease, other } = setUpInMemory()
    const first = pendingWork()
    const firstRun = lease.run(first.work)
    const second = lease.run(async () => 'second', { wait: 3_000 })
    const rejected = expect(second).rejects.toBeInstanceOf(LeaseHeldError)
    const taken = other.acquire({ wait: Number.POSITIVE_INFINITY })
    await clock.advance(2_000)
    first.end('first')
    await firstRun
    expect(await taken).toBe(true)
    const before = clock.now()
    await clock.advance(1_500)
    await rejected
    expect(before).toBe(2_000)
    await other.release()
  })

  it('stop waiting for their turn when their signal aborts, with its reason', async () => {
    const { clock, lease } = setUpInMemory()
    const first = pendingWork()
    const firstRun = lease.run(first.work)
    const cancelled = new AbortController()
    const second = lease.run(async () => 'second', { wait: Number.POSITIVE_INFINITY, signal: cancelled.signal })
    const third = lease.run(async () => 'third', { wait: Number.POSITIVE_INFINITY })
    const reason = new Error('not needed any more')
    const rejected = expect(second).rejects.toBe(reason)
    cancelled.abort(reason)
    await rejected
    first.end('first')
    expect(await Promise.all([firstRun, third])).toEqual(['first', 'third'])
    await clock.settle()
  })

  it('reject when the lease is closed while they wait', async () => {
    const { clock, lease } = setUpInMemory()
    const first = lease.run(pendingWork().work)
    const second = lease.run(async () => 'second', { wait: Number.POSITIVE_INFINITY })
    const rejected = [
      expect(first).rejects.toMatchObject({ name: 'LeaseLostError', reason: 'closed' }),
      expect(second).rejects.toMatchObject({ code: 'unavailable' }),
    ]
    await lease.close()
    await clock.settle()
    await Promise.all(rejected)
  })

  it('leave no listener and no timer behind when they waited for their turn', async () => {
    const { clock, lease } = setUpInMemory()
    const { signal } = new AbortController()
    const first = pendingWork()
    const runs = [lease.run(first.work), lease.run(async () => 'second', { wait: 30_000, signal })]
    await clock.settle()
    expect(getEventListeners(signal, 'abort').length).toBe(1)
    first.end('first')
    expect(await Promise.all(runs)).toEqual(['first', 'second'])
    await clock.advance(50)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    expect(clock.pending).toBe(0)
  })

  it('continue after a run with failed work, and after a run without a grant', async () => {
    const { lease, other } = setUpInMemory()
    const failed = lease.run(() => Promise.reject(new Error('work')))
    const next = lease.run(async () => 'next', { wait: 1_000 })
    await expect(failed).rejects.toThrow('work')
    expect(await next).toBe('next')
    await other.acquire()
    await expect(lease.run(async () => 'refused')).rejects.toBeInstanceOf(LeaseHeldError)
    await other.release()
    expect(await lease.run(async () => 'again')).toBe('again')
  })
})

describe('a run inside its own work', () => {
  it('rejects with a LeaseConflictError instead of waiting for itself', async () => {
    const { lease } = setUpInMemory()
    const result = lease.run(async () => {
      await Promise.resolve()
      const inner = lease.run(async () => 'inner', { wait: Number.POSITIVE_INFINITY })
      await expect(inner).rejects.toBeInstanceOf(LeaseConflictError)
      expect(lease.checkLease()).toBe(true)
      return 'outer'
    })
    expect(await result).toBe('outer')
    expect(lease.checkLease()).toBe(false)
  })

  it('rejects in the same way inside the work of another lease', async () => {
    const { lease, clock, store } = setUpInMemory()
    const between = createLease(store, 'between', { clock, logger: silentLogger })
    const result = lease.run(() =>
      between.run(async () => {
        await expect(lease.run(async () => 'inner')).rejects.toBeInstanceOf(LeaseConflictError)
        return 'between'
      }),
    )
    expect(await result).toBe('between')
  })

  it('is a normal run after the outer run has ended', async () => {
    const { clock, store, lease } = setUpInMemory()
    const elsewhere = pendingWork<void>()
    const run = createLease(store, 'elsewhere', { clock, logger: silentLogger }).run(elsewhere.work)
    let later: Promise<string> | undefined
    const gate = pendingWork<void>()
    await lease.run(async () => {
      later = gate.work({ signal: lease.signal, fencingToken: 0n }).then(() => lease.run(async () => 'later'))
    })
    gate.end()
    await clock.settle()
    expect(await later).toBe('later')
    elsewhere.end()
    await run
  })

  it('does not block a concurrent run', async () => {
    const { lease } = setUpInMemory()
    const first = pendingWork()
    const runs = [lease.run(first.work), lease.run(async () => 'beside', { wait: 1_000 })]
    first.end('first')
    expect(await Promise.all(runs)).toEqual(['first', 'beside'])
  })
})

describe('a run next to acquire()', () => {
  it('works under the grant of acquire() and leaves it held', async () => {
    const { lease } = setUpInMemory()
    await lease.acquire()
    const token = lease.fencingToken
    expect(await lease.run(async ({ fencingToken }) => fencingToken)).toBe(token)
    expect(lease.checkLease()).toBe(true)
    expect(lease.fencingToken).toBe(token)
  })

  it('leaves the lease held if acquire() was called while it worked, or waited for the grant', async () => {
    const { clock, lease, other } = setUpInMemory()
    const work = pendingWork()
    const run = lease.run(work.work)
    await clock.settle()
    expect(await lease.acquire()).toBe(true)
    work.end('done')
    await run
    expect(lease.checkLease()).toBe(true)
    await lease.release()

    await other.acquire()
    const waiting = lease.run(async () => 'waited', { wait: Number.POSITIVE_INFINITY })
    const acquired = lease.acquire({ wait: Number.POSITIVE_INFINITY })
    await clock.settle()
    await other.release()
    await clock.settle()
    expect(await Promise.all([waiting, acquired])).toEqual(['waited', true])
    expect(lease.checkLease()).toBe(true)
  })

  it('rejects with the reason of an already aborted signal', async () => {
    const { lease } = setUpInMemory()
    await lease.acquire()
    const reason = new Error('not needed any more')
    let began = false
    const run = lease.run(
      async () => {
        began = true
      },
      { signal: AbortSignal.abort(reason) },
    )
    await expect(run).rejects.toBe(reason)
    expect([began, lease.checkLease()]).toEqual([false, true])
  })

  it('releases its own grant again after an acquire() that was released', async () => {
    const { lease, other } = setUpInMemory()
    await lease.acquire()
    await lease.release()
    await lease.run(async () => 'done')
    expect(lease.checkLease()).toBe(false)
    expect(await other.acquire()).toBe(true)
  })

  it('works under a new grant when the validity of the old one has ended, and the loss is not yet reported', async () => {
    const { clock, lease } = setUpInMemory()
    const losses: string[] = []
    await lease.acquire({ onLost: ({ reason }) => losses.push(reason) })
    const token = lease.fencingToken ?? 0n
    clock.block(200_000)
    const ran = lease.run(async ({ fencingToken }) => fencingToken)
    await clock.settle()
    expect(await ran).toBeGreaterThan(token)
    expect(losses).toEqual(['expired'])
  })

  it('rejects, and calls its own onLost once, when that grant is lost', async () => {
    const { clock, store, lease } = setUpInMemory()
    await lease.acquire()
    const [told, toldLater]: string[][] = [[], []]
    const ended = await lease.run(async () => 'ended', { onLost: ({ reason }) => toldLater?.push(reason) })
    const work = pendingWork()
    const run = lease.run(work.work, { onLost: ({ reason }) => told?.push(reason) })
    const rejected = expect(run).rejects.toMatchObject({ name: 'LeaseLostError', reason: 'broken' })
    await store.break('job', { period: 0 })
    await clock.advance(60_000)
    await rejected
    expect(work.started[0]?.signal.aborted).toBe(true)
    expect([ended, told, toldLater]).toEqual(['ended', ['broken'], []])
  })
})
