import {
  breakLease,
  createLease,
  LeaseConfigurationError,
  type LeaseStore,
  LeaseUnauthorisedError,
  LeaseUnavailableError,
  MemoryLeaseStore,
  readLease,
} from '@leasehold/core'
import { viewOf } from '@leasehold/core/store'
import { type Permit, ReadWriteLease, Semaphore } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import { type FaultPlan, FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { holderUnknown } from '../support/holder-unknown.js'

const TTL = 12_000
const times = { heartbeatTimeout: TTL, heartbeatInterval: 1_200, operationTimeout: 600 }
const forEver = Number.POSITIVE_INFINITY

function setUp() {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const lines: string[] = []
  const logger = { ...silentLogger, warn: (line: string) => void lines.push(line) }
  const options = { name: 'job', ...times, clock, logger }
  /** Lets time pass until the promise has settled. */
  const during = async <T>(promise: Promise<T>, longest = 5 * TTL): Promise<T> => {
    let isOver = false
    const end = (): void => {
      isOver = true
    }
    promise.then(end, end)
    expect(await clock.time.advanceUntil(() => isOver, longest)).toBe(true)
    return await promise
  }
  const open = (permits: number, over: LeaseStore = store) => new Semaphore(over, { ...options, permits })
  const faulty = (plan: FaultPlan) => new FaultyStore(store, { clock, plan })
  const stateOf = async (name: string) => (await during(readLease(store, name, { clock })))?.state
  return { clock, store, lines, options, during, open, faulty, stateOf }
}

const notCounts = [Number.NaN, '3', -1, 0, 1.5, Number.POSITIVE_INFINITY, 100_001, undefined, null]

describe('the number of slots', () => {
  it.each(notCounts)('is not %s', async (count) => {
    const { store, options, open, during } = setUp()
    for (const [kind, create] of [
      ['permits', () => new Semaphore(store, { ...options, permits: count as number })],
      ['readers', () => new ReadWriteLease(store, { ...options, readers: count as number })],
    ] as const) {
      expect(create).toThrow(LeaseConfigurationError)
      expect(create).toThrow(`${kind} must be a whole number from 1 to 100000, not ${count}`)
    }
    await expect(during(open(1).resize(count as number))).rejects.toThrow('permits must be a whole number')
  })

  it.each([
    ['permits', '999999999999999'],
    ['permits', '9'.repeat(40)],
    ['slots', '999999999999999'],
    ['made', '100001'],
    ['next', '999999999999999'],
  ])('in a record whose %s was changed to %s is a typed error', async (key, number) => {
    const { clock, store, open, during } = setUp()
    const other = createLease(store, 'job', { clock })
    await other.acquire({ metadata: { permits: '2', [key]: number } })
    await other.release()
    const semaphore = open(2)
    const message = `its '${key}' is ${number}, and the most is 100000`
    for (const use of [
      (): Promise<unknown> => semaphore.acquire(),
      () => semaphore.acquire({ wait: forEver }),
      () => semaphore.run(async () => expect.unreachable()),
      () => semaphore.resize(1),
    ]) {
      await expect(during(use())).rejects.toThrow(LeaseConfigurationError)
      await expect(during(use())).rejects.toThrow(message)
    }
  })

  it('is reported once as a warning by the instance that changes it', async () => {
    const { lines, open, during } = setUp()
    const before = open(3)
    await during(before.acquire())
    const after = open(2)
    for (const semaphore of [after, before, after]) await during(semaphore.acquire())
    expect(lines).toEqual([
      "'job' had 3 permits, and has 2 from now on, because this instance was made with 2. If no deployment is under way, " +
        'give one of the two another name',
    ])
  })

  it('is written before the first slot is entered', async () => {
    const { open, during, faulty } = setUp()
    const store = faulty(({ operation, name }) => {
      const isFirst = operation === 'acquire' && name === 'job/0'
      // The record is not written when the turnstile is left.
      return isFirst || (operation === 'release' && name === 'job') ? { kind: 'fail-before' } : undefined
    })
    const permit = await during(open(2, store).acquire())
    expect(permit?.slot).toBe(1)
    const fewer = open(1)
    // An instance that does not know of the second slot would be granted the first one.
    expect(await during(fewer.acquire({ wait: 3 * TTL }))).toBeUndefined()
    expect(permit?.checkLease()).toBe(true)
  })
})

describe('a name with slots', () => {
  it('is not shared by a semaphore and a read-write lease', async () => {
    const { store, options, open, during } = setUp()
    const both = new ReadWriteLease(store, { ...options, readers: 5 })
    await during(both.shared.acquire())
    await expect(during(open(3).acquire())).rejects.toThrow(
      "'job' is a name of the recipe 'read-write-lease', so 'semaphore' cannot use it",
    )
    await expect(during(open(3).acquire({ wait: forEver }))).rejects.toThrow(LeaseConfigurationError)
    await expect(during(open(3).resize(2))).rejects.toThrow(LeaseConfigurationError)
    const other = { ...options, name: 'other' }
    await during(new Semaphore(store, { ...other, permits: 3 }).acquire())
    for (const lease of ['shared', 'exclusive'] as const) {
      const reversed = new ReadWriteLease(store, { ...other, readers: 5 })[lease]
      await expect(during(reversed.acquire())).rejects.toThrow("'other' is a name of the recipe 'semaphore'")
    }
  })
})

describe('a permit', () => {
  it('is free again if its only caller gives up at any instant of its grant', async () => {
    // The abort comes so many turns of the microtask queue after the grant.
    for (let turns = 0; turns <= 60; turns += 1) {
      const { store, clock, during, open, faulty, stateOf } = setUp()
      const giveUp = new AbortController()
      const acquire: LeaseStore['acquire'] = async (request, call) => {
        const outcome = await store.acquire(request, call)
        if (request.name === 'job/0') void later(turns).then(() => giveUp.abort())
        return outcome
      }
      const quick = Object.assign(
        faulty(() => undefined),
        { acquire },
      )
      const semaphore = open(1, quick)
      const permit = await during(semaphore.acquire({ signal: giveUp.signal })).catch(() => undefined)
      await clock.time.advance(TTL / 2)
      expect([turns, await stateOf('job/0')]).toEqual([turns, permit === undefined ? 'available' : 'leased'])
      if (permit === undefined) expect(await during(open(1).acquire())).toBeDefined()
    }
  })

  it('tells all callers that share it of its loss', async () => {
    const { store, clock, open, during } = setUp()
    const lost: string[] = []
    const permit = open(1).permit()
    const callers = ['first', 'second', 'third'].map((caller) =>
      permit.acquire({ wait: TTL, onLost: ({ reason }) => void lost.push(`${caller}: ${reason}`) }),
    )
    expect(await during(Promise.all(callers))).toEqual([true, true, true])
    await breakLease(store, 'job/0', { clock, period: 0 })
    await clock.time.advance(TTL)
    expect(lost).toEqual(['first: broken', 'second: broken', 'third: broken'])
  })

  it('whose grant was not confirmed is free again, and another slot is tried', async () => {
    const { during, open, faulty, clock, stateOf } = setUp()
    let isFirst = true
    const store = faulty(({ operation, name }) => {
      if (!isFirst || operation !== 'acquire' || name !== 'job/0') return undefined
      isFirst = false
      return { kind: 'fail-after' }
    })
    const permit = await during(open(2, store).acquire())
    expect(permit?.checkLease()).toBe(true)
    await clock.time.advance(TTL / 2)
    const states = [await stateOf('job/0'), await stateOf('job/1')]
    expect(states[permit?.slot ?? 0]).toBe('leased')
    expect(states[1 - (permit?.slot ?? 0)]).not.toBe('leased')
  })

  it('is found among many, or refused, without a claim on every slot', async () => {
    const { store, open, during } = setUp()
    const claimed: string[] = []
    const counting = viewOf(store, {
      acquire: (acquire) => (request, call) => {
        if (request.name !== 'job') claimed.push(request.name)
        return acquire(request, call)
      },
    })
    const semaphore = open(50, counting)
    const permits: (Permit | undefined)[] = []
    for (let count = 0; count < 50; count += 1) permits.push(await during(semaphore.acquire()))
    claimed.length = 0
    expect(await during(semaphore.acquire())).toBeUndefined()
    expect(claimed).toEqual(['job/0'])
    for (const slot of [20, 30]) await during(permits[slot]?.release() ?? Promise.resolve(false))
    claimed.length = 0
    expect((await during(semaphore.acquire()))?.slot).toBe(20)
    expect(claimed).toEqual(['job/0', 'job/20'])
  })

  it('is refused at once where its metadata are not valid', async () => {
    const { open, during } = setUp()
    const semaphore = open(1)
    for (const metadata of [{ a: 5 as never }, { a: 'x'.repeat(5_000) }]) {
      await expect(during(semaphore.acquire({ wait: forEver, metadata }), 0)).rejects.toThrow(LeaseConfigurationError)
    }
  })

  it('is refused at once where the slots refuse it', async () => {
    const { open, during, faulty } = setUp()
    const error = new LeaseUnauthorisedError('no', { leaseName: 'job/0' })
    const store = faulty(({ operation, name }) =>
      operation === 'acquire' && name !== 'job' ? { kind: 'fail-before', error } : undefined,
    )
    const refused = { code: 'unauthorised' }
    await expect(during(open(2, store).acquire({ wait: forEver }))).rejects.toMatchObject(refused)
    await expect(during(open(2, store).acquire())).rejects.toMatchObject(refused)
  })

  it('is not acquired for a run without work', async () => {
    const { open, during, stateOf } = setUp()
    await expect(during(open(1).run(undefined as never))).rejects.toThrow(
      'the work of Semaphore.run must be a function',
    )
    expect(await stateOf('job')).toBeUndefined()
  })
})

describe('a waiter whose watches break', () => {
  /** The first `broken` watches of each slot fail. */
  const breaking = (store: LeaseStore, broken: number) => {
    const starts = new Map<string, number>()
    const view = viewOf(store, {
      watch: (watch) => (name, call, grantId) => {
        const count = (starts.get(name) ?? 0) + 1
        starts.set(name, count)
        if (count <= broken && name !== 'job') throw new Error('reset')
        return watch(name, call, grantId)
      },
    })
    return { view, starts }
  }

  it('starts them again, and enters a slot as soon as it is free', async () => {
    const { store, clock, open, during } = setUp()
    const { view, starts } = breaking(store, 2)
    const held = await during(open(1).acquire())
    const waiting = open(1, view).acquire({ wait: forEver })
    // The looks without a signal are up to TTL / 3 apart by now.
    await clock.time.advance(TTL)
    expect([starts.get('job/0'), starts.get('job/resize')]).toEqual([3, 3])
    let entered = Number.POSITIVE_INFINITY
    void waiting.then(() => {
      entered = clock.now()
    })
    const freed = clock.now()
    await during(held?.release() ?? Promise.resolve(false))
    await clock.time.advance(TTL / 3)
    expect(entered - freed).toBeLessThan(10)
  })

  it('looks again after each break', async () => {
    const { store, clock, options, open, during } = setUp()
    const { view } = breaking(store, forEver)
    const reads: number[] = []
    const counting = viewOf(view, {
      acquire: (acquire) => (request, call) => {
        if (request.name === 'job/0') reads.push(clock.now())
        return acquire(request, call)
      },
    })
    await during(open(1).acquire())
    // Without jitter, a watch is started again every TTL / 6, and the looks without a signal are TTL / 3 apart.
    const semaphore = new Semaphore(counting, { ...options, permits: 1, random: () => 0 })
    const waiting = semaphore.acquire({ wait: 4 * TTL })
    await clock.time.advance(3 * TTL)
    expect(reads.filter((at) => at > TTL).length).toBeGreaterThan(10)
    expect(await during(waiting)).toBeUndefined()
  })
})

describe('a resize', () => {
  it('looks again while the store does not know the record of the holder yet', async () => {
    const { store, open, during, stateOf } = setUp()
    const semaphore = open(3, holderUnknown(store))
    const held = await during(semaphore.acquire())
    await during(semaphore.resize(1))
    expect(await stateOf('job/0')).toBe('leased')
    expect(await during(open(3).acquire())).toBeUndefined()
    await during(held?.release() ?? Promise.resolve(false))
  })

  it('that has ended is not carried out by a waiter', async () => {
    const { store, clock, open, during } = setUp()
    await during(open(1).acquire())
    const waiting = open(1).acquire({ wait: 2 * TTL })
    await clock.time.advance(TTL / 4)
    const resize = createLease(store, 'job/resize', { clock, ...times })
    await resize.acquire({ metadata: { permits: '1' } })
    await resize.release({ metadata: { permits: '5' } })
    expect(await during(waiting)).toBeUndefined()
  })

  it.each(['999999999999999', '0', '-1', 'x', '1.5'])('to %s in its record is ignored by waiters', async (permits) => {
    const { store, clock, open, during } = setUp()
    const held = await during(open(1).acquire())
    const waiting = open(1).acquire({ wait: forEver })
    await clock.time.advance(TTL / 4)
    await createLease(store, 'job/resize', { clock, ...times }).acquire({ metadata: { permits } })
    await clock.time.advance(TTL)
    await during(held?.release() ?? Promise.resolve(false))
    expect((await during(waiting))?.slot).toBe(0)
  })

  it('goes on after it was cut off, and lost its place', async () => {
    const { store, open, faulty, during, clock } = setUp()
    await during(open(1).acquire())
    const holder = createLease(store, 'job', { clock, ...times })
    await holder.acquire()
    let isCut = false
    const resizing = open(
      1,
      faulty(() => (isCut ? { kind: 'hang' } : undefined)),
    ).resize(2)
    await clock.time.advance(TTL / 4)
    isCut = true
    await clock.time.advance(2 * TTL)
    isCut = false
    await clock.time.advance(TTL)
    await holder.release()
    await during(resizing)
    expect((await during(open(1).acquire()))?.slot).toBe(1)
  })

  it('ends with the reason of its signal, or with an error after close', async () => {
    const { open, during, clock } = setUp()
    const semaphore = open(2)
    for (let count = 0; count < 2; count += 1) await during(semaphore.acquire())
    const reason = new Error('enough')
    const signal = new AbortController()
    const resizing = open(2).resize(1, { signal: signal.signal })
    await clock.time.advance(TTL)
    signal.abort(reason)
    await expect(during(resizing)).rejects.toBe(reason)
    // The number was written.
    expect(await during(semaphore.acquire())).toBeUndefined()
    expect(semaphore.permits).toBe(1)
    const other = open(2)
    const closed = other.resize(1)
    closed.catch(() => {})
    await clock.time.advance(TTL)
    await during(other.stop())
    await expect(during(closed)).rejects.toThrow(LeaseUnavailableError)
  })
})

async function later(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await undefined
}
