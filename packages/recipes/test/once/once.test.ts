import {
  breakLease,
  createLease,
  LeaseConfigurationError,
  LeaseConflictError,
  LeaseHeldError,
  LeaseLostError,
  LeaseNameError,
  type LeaseStore,
  LeaseUnavailableError,
  MemoryLeaseStore,
  readLease,
} from '@leasehold/core'
import { Once, type OnceOptions } from '@leasehold/recipes'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

/** A store in memory whose limits or methods differ. */
function memory({ metadata, ...methods }: { metadata?: number; update?: undefined } = {}): LeaseStore {
  const store = new FaultyStore(new MemoryLeaseStore())
  const limits = metadata === undefined ? store.limits : { ...store.limits, metadata }
  return Object.assign(store, { kind: 'memory', limits, ...methods })
}

const unreachable = () => expect.unreachable('the work was done again')

describe('Once', () => {
  it.each<[string, LeaseStore, OnceOptions, string]>([
    ['an unknown option', memory(), { ttl: 5 } as OnceOptions, "no option 'ttl'"],
    ['an invalid duration', memory(), { heartbeatTimeout: -1 }, 'heartbeatTimeout'],
    ['an invalid age', memory(), { expiresAfter: 0 }, 'expiresAfter must be a positive number of milliseconds'],
    ['a clock that is no function', memory(), { now: 5 as never }, 'now must be a function'],
    ['a store without metadata', memory({ metadata: 0 }), {}, 'the memory store keeps none: use a store or a layout'],
    ['a store that cannot update metadata', memory({ update: undefined }), {}, 'the memory store keeps none'],
    ['an owner that leaves no room for a mark', memory({ metadata: 64 }), { owner: 'o'.repeat(60) }, 'a shorter owner'],
  ])('rejects %s when it is built', (_, store, options, message) => {
    expect(() => new Once(store, options)).toThrow(LeaseConfigurationError)
    expect(() => new Once(store, options)).toThrow(message)
  })

  it('has the lease of a key under the key, or under its own name and the key', async () => {
    const store = new MemoryLeaseStore()
    await new Once(store).run('report', async () => 1)
    await new Once(store, { name: 'imports' }).run('2026', async () => 2)
    expect(await readLease(store, 'report')).toMatchObject({ state: 'available', metadata: { outcome: '1' } })
    expect(await readLease(store, 'imports/2026')).toMatchObject({ state: 'available', metadata: { outcome: '2' } })
  })

  it('gives every caller the outcome as JSON keeps it, the first one too', async () => {
    const once = new Once(new MemoryLeaseStore())
    const date = new Date(0)
    const outcome: unknown = await once.run('key', async () => ({ date, none: undefined }))
    expect(outcome).toEqual({ date: '1970-01-01T00:00:00.000Z' })
    expect(await once.run('key', unreachable)).toEqual(outcome)
  })

  it('says by whom the work was done, and which outcome was dropped', async () => {
    const once = new Once(memory({ metadata: 100 }), { owner: 'anna' })
    const tooLarge = "the work of 'key' was done by 'anna', but its outcome is larger than the metadata of a record"
    await expect(once.run('key', async () => 'x'.repeat(100))).rejects.toThrow(tooLarge)
    await expect(once.read('key')).rejects.toThrow(tooLarge)
    await expect(once.run('text', async () => () => {})).rejects.toThrow('its outcome is not JSON')
  })

  it('rejects a record whose outcome another program has made unreadable', async () => {
    const store = new MemoryLeaseStore()
    await createLease(store, 'key').run(async () => {})
    const lease = createLease(store, 'key')
    await lease.acquire({ metadata: { recipe: 'once', doneBy: 'anna', outcome: '{' } })
    await lease.release()
    await expect(new Once(store).run('key', unreachable)).rejects.toThrow(LeaseConfigurationError)
  })

  it('rejects a run inside the work of its own key: it would wait for itself', async () => {
    const once = new Once(new MemoryLeaseStore())
    const nested = once.run('key', () => once.run('key', unreachable, { wait: 60_000 }))
    await expect(nested).rejects.toThrow(LeaseConflictError)
  })

  it('does not mark a key for work whose grant was lost, while another run on the same lease does it again', async () => {
    const clock = new VirtualClock()
    const store = new MemoryLeaseStore({ clock })
    const once = new Once(store, { clock })
    const endings: ((outcome: string) => void)[] = []
    const work = (): Promise<string> => new Promise((resolve) => endings.push(resolve))
    const lost = expect(once.run('key', work)).rejects.toThrow(LeaseLostError)
    const second = once.run('key', work, { wait: Number.POSITIVE_INFINITY })
    await clock.settle()
    await breakLease(store, 'key', { period: 0, clock })
    await clock.advance(60_000)
    await lost
    expect(endings).toHaveLength(2)
    endings[0]?.('of the lost run')
    await clock.advance(60_000)
    expect(await once.read('key')).toBeUndefined()
    endings[1]?.('of the second run')
    await clock.settle()
    expect(await second).toBe('of the second run')
  })

  it('does no call to the store but a read once the work is done', async () => {
    const calls: string[] = []
    const store = new FaultyStore(new MemoryLeaseStore(), {
      plan: ({ operation }) => {
        calls.push(operation)
        return undefined
      },
    })
    const once = new Once(store)
    await once.run('key', async () => 1)
    expect(calls).toEqual(['read', 'acquire', 'update', 'release'])
    await once.run('key', unreachable)
    expect(calls.slice(4)).toEqual(['read'])
  })

  it('returns the outcome to a caller that was refused by a holder that only looked at the mark', async () => {
    const inner = new MemoryLeaseStore()
    const store = new FaultyStore(inner)
    const once = new Once(store, { owner: 'anna' })
    // The mark is written after the first read, and then the name is held again.
    const acquire = store.acquire.bind(store)
    const other = createLease(inner, 'key', { owner: 'berta' })
    Object.assign(store, {
      acquire: async (...args: Parameters<LeaseStore['acquire']>) => {
        if (!other.checkLease())
          await other.acquire({ metadata: { recipe: 'once', doneBy: 'berta', outcome: '"hers"' } })
        return await acquire(...args)
      },
    })
    expect(await once.run('key', unreachable)).toBe('hers')
    await other.close()
  })

  it('starts nothing when the store does not answer', async () => {
    const clock = new VirtualClock()
    const store = new FaultyStore(new MemoryLeaseStore({ clock }), { clock, plan: () => ({ kind: 'hang' }) })
    const rejected = expect(new Once(store, { clock }).run('key', unreachable)).rejects.toMatchObject({
      code: 'timeout',
    })
    await clock.advance(60_000)
    await rejected
  })

  it('waits for a store that cannot be reached, as acquire does, and rejects when the wait is over', async () => {
    const clock = new VirtualClock()
    const inner = new MemoryLeaseStore({ clock })
    const down = new FaultyStore(inner, {
      clock,
      plan: () => (clock.now() < 30_000 ? { kind: 'fail-before' } : undefined),
    })
    const once = new Once(down, { clock })
    const short = expect(once.run('key', unreachable, { wait: 10_000 })).rejects.toThrow(LeaseUnavailableError)
    const long = new Once(down, { clock }).run('key', async () => 'done', { wait: 60_000 })
    await clock.advance(60_000)
    await short
    expect(await long).toBe('done')
    expect(await once.run('key', unreachable, { wait: 10_000 })).toBe('done')
  })

  it('finds the mark of a store that could not be reached at first', async () => {
    const clock = new VirtualClock()
    const inner = new MemoryLeaseStore({ clock })
    await new Once(inner, { clock }).run('key', async () => 'done')
    const down = new FaultyStore(inner, {
      clock,
      plan: () => (clock.now() < 30_000 ? { kind: 'fail-before' } : undefined),
    })
    const waiting = new Once(down, { clock }).run('key', unreachable, { wait: 60_000 })
    await clock.advance(60_000)
    expect(await waiting).toBe('done')
  })

  it('types an error of a store that has no type', async () => {
    const store = new FaultyStore(new MemoryLeaseStore())
    store.inject({ kind: 'fail-before', error: new TypeError('no such host') }, 'read')
    const error = await new Once(store).run('key', unreachable).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseUnavailableError)
    expect(error).toMatchObject({ leaseName: 'key', cause: { message: 'no such host' } })
  })

  it('reports a work that was done and whose mark the store rejects as unknown', async () => {
    const store = new FaultyStore(new MemoryLeaseStore())
    store.inject({ kind: 'fail-before', error: new LeaseConfigurationError('too long for this store') }, 'update')
    const error = await new Once(store).run('key', async () => 1).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(LeaseUnavailableError)
    expect(error).toMatchObject({
      message: expect.stringContaining("the work of 'key' was done, but its mark was not"),
    })
  })

  it('ends a work that hangs after maxHold, and leaves the key to the next caller', async () => {
    const clock = new VirtualClock()
    const once = new Once(new MemoryLeaseStore({ clock }), { clock, maxHold: 1_000 })
    const hanging = once.run('key', () => new Promise(() => {}))
    const rejected = expect(hanging).rejects.toMatchObject({ code: 'lost', reason: 'max-hold' })
    const next = once.run('key', async () => 'next', { wait: 5_000 })
    await clock.advance(5_000)
    await rejected
    expect(await next).toBe('next')
  })

  it('ends the wait of a caller that is aborted, and not the work', async () => {
    const once = new Once(new MemoryLeaseStore())
    let end = (_: string): void => {}
    const working = once.run('key', () => new Promise<string>((resolve) => (end = resolve)))
    const impatient = new AbortController()
    const waiting = once.run('key', unreachable, { wait: 60_000, signal: impatient.signal })
    impatient.abort(new Error('no time'))
    await expect(waiting).rejects.toThrow('no time')
    end('done')
    expect(await working).toBe('done')
  })

  it('does the work again after forget, which rejects while the work is in progress', async () => {
    const once = new Once(new MemoryLeaseStore())
    await once.run('key', async () => {
      await expect(new Once(new MemoryLeaseStore()).forget('key')).resolves.toBeUndefined()
      return 1
    })
    await once.forget('key')
    expect(await once.read('key')).toBeUndefined()
    const store = new MemoryLeaseStore()
    const working = new Once(store).run('key', () => new Promise(() => {}))
    working.catch(() => {})
    await Promise.resolve()
    await new Promise((resolve) => setImmediate(resolve))
    await expect(new Once(store).forget('key')).rejects.toThrow(LeaseHeldError)
    expect(await once.run('key', async () => 2)).toBe(2)
  })

  it('rejects keys that are no lease names, and options that it does not know', async () => {
    const once = new Once(new MemoryLeaseStore())
    await expect(once.run('', unreachable)).rejects.toThrow(LeaseNameError)
    await expect(once.run(5 as unknown as string, unreachable)).rejects.toThrow(LeaseConfigurationError)
    await expect(once.run('key', unreachable, { timeout: 5 } as object)).rejects.toThrow("no option 'timeout'")
  })

  it('rejects runs once it is closed', async () => {
    const once = new Once(new MemoryLeaseStore())
    await once.stop()
    await expect(once.run('key', unreachable)).rejects.toThrow(LeaseUnavailableError)
  })
})

describe('expiresAfter', () => {
  it('forgets an outcome that is older, and none of the future or of a version without times', async () => {
    const store = new MemoryLeaseStore()
    let time = Date.parse('2026-01-01T00:00:00Z')
    const once = new Once(store, { expiresAfter: 1_000, now: () => new Date(time) })
    let works = 0
    const run = () =>
      once.run('key', async () => {
        works += 1
        return works
      })
    expect([await run(), await run()]).toEqual([1, 1])
    time += 1_000
    expect(await run()).toBe(1)
    time += 1
    expect(await once.read('key')).toBeUndefined()
    expect(await run()).toBe(2)
    time -= 3_600_000
    expect(await run()).toBe(2)
    const lease = createLease(store, 'key')
    await lease.acquire({ metadata: { recipe: 'once', doneBy: 'anna', outcome: '"old"' } })
    await lease.release()
    time += 36_000_000
    expect(await run()).toBe('old')
  })
})
