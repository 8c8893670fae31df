import { createLease, type LeaseStore, LeaseUnavailableError, MemoryLeaseStore } from '@leasehold/core'
import {
  AllOf,
  createLockManager,
  LeaderElection,
  LeaseManager,
  Once,
  PartitionGroup,
  ReadWriteLease,
  type Recipe,
  type RecipeOptions,
  Schedule,
  Semaphore,
  SingleFlight,
} from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing/silent-logger'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

/** The work of a trial: the lease is its last argument. */
type Work = (...given: unknown[]) => Promise<void>

/** A recipe with a work that it is going to do. */
interface Made<R extends Recipe = Recipe> {
  readonly recipe: R
  /** Has the recipe do its work, also after an outage of the store. */
  begin(): unknown
  /** Every call that is not only a look at a record. */
  readonly calls: Readonly<Record<string, () => unknown>>
}

interface Row {
  readonly create: (store: LeaseStore, options: RecipeOptions, work: Work) => Made
  /** The recipe in its errors. */
  readonly subject: string
  /** The arguments of the work before the lease. */
  readonly before?: readonly unknown[]
  /** The members that the recipe adds to the lease. */
  readonly adds: object
  /** Whether `stop()` lets its work end for a while before it aborts the signal. */
  readonly isPatient?: true
}

const wait = Number.POSITIVE_INFINITY
const members = { signal: expect.any(AbortSignal), fencingToken: expect.any(BigInt), checkLease: expect.any(Function) }

function started(recipe: Recipe & { start(): void }): Made {
  return { recipe, begin: () => recipe.start(), calls: { start: () => recipe.start() } }
}

const recipes: Readonly<Record<string, Row>> = {
  LeaderElection: {
    create: (store, options, onElected) => started(new LeaderElection(store, { ...options, onElected })),
    subject: "election 'job'",
    adds: { term: expect.any(BigInt) },
  },
  Schedule: {
    create: (store, options, work) => {
      const now = () => new Date(Number(options.clock?.wall?.()))
      const recipe = new Schedule(store, { ...options, every: 10_000, now, work })
      const made = started(recipe)
      const calls = {
        ...made.calls,
        pause: () => recipe.pause({ reason: 'maintenance' }),
        resume: () => recipe.resume(),
        runNow: () => recipe.runNow(),
        skip: () => recipe.skip('2099-01-01'),
      }
      return { ...made, calls }
    },
    subject: "schedule 'job'",
    adds: { due: expect.any(Date), byHand: undefined },
  },
  PartitionGroup: {
    create: (store, options, onAssigned) =>
      started(new PartitionGroup(store, { ...options, partitions: 1, onAssigned })),
    subject: "partition group 'job'",
    adds: { partition: 0, position: undefined, save: expect.any(Function) },
  },
  Once: {
    create: (store, options, work) => {
      const recipe = new Once(store, options)
      const run = () => recipe.run('key', work, { wait })
      return { recipe, begin: run, calls: { run, forget: () => recipe.forget('key') } }
    },
    subject: "once 'job'",
    adds: {},
  },
  Semaphore: {
    create: (store, options, work) => {
      const recipe = new Semaphore(store, { ...options, permits: 2 })
      const run = () => recipe.run(work, { wait })
      const calls = {
        run,
        acquire: () => recipe.acquire(),
        permit: () => recipe.permit(),
        resize: () => recipe.resize(3),
      }
      return { recipe, begin: run, calls }
    },
    subject: "semaphore 'job'",
    adds: { slot: expect.any(Number) },
  },
  SingleFlight: {
    create: (store, options, work) => {
      const recipe = new SingleFlight(store, options)
      const get = () => recipe.get('key', (refreshing) => work(refreshing).then(() => 1), { freshFor: 1 })
      return { recipe, begin: get, calls: { get, forget: () => recipe.forget('key') } }
    },
    subject: "single-flight 'job'",
    adds: { previous: undefined, interrupted: false },
    isPatient: true,
  },
  ReadWriteLease: {
    create: (store, options, work) => {
      const recipe = new ReadWriteLease(store, { ...options, readers: 2 })
      const run = () => recipe.exclusive.run(work, { wait })
      return { recipe, begin: run, calls: { run, acquire: () => recipe.shared.acquire() } }
    },
    subject: "read-write lease 'job'",
    adds: {},
  },
  LockManager: {
    create: (store, options, work) => {
      const recipe = createLockManager(store, options)
      const run = () => recipe.request('key', work)
      const steal = () => recipe.request('key', { steal: true }, work)
      return { recipe, begin: run, calls: { run, steal } }
    },
    subject: "lock manager 'job'",
    adds: { name: 'key', mode: 'exclusive' },
  },
  LeaseManager: {
    create: (store, options, work) => {
      const recipe = new LeaseManager(store, options)
      const processEach = () => recipe.processEach(['a'], work)
      const calls = {
        processEach,
        acquireWithAutoRenew: () => recipe.acquireWithAutoRenew('b'),
        claimFirst: () => recipe.claimFirst(['c']),
      }
      return { recipe, begin: processEach, calls }
    },
    subject: "lease manager 'job'",
    before: ['a'],
    adds: {},
  },
}

/** A recipe in virtual time, whose work goes on until its signal aborts. */
function createPlace({ create }: Row, options: Partial<RecipeOptions> = {}) {
  const clock = new VirtualClock()
  const place = { isDown: false, works: [] as (readonly unknown[])[] }
  const fault = () => (place.isDown ? ({ kind: 'fail-before' } as const) : undefined)
  const plan = ({ operation }: { readonly operation: string }) => (operation === 'acquire' ? fault() : undefined)
  const store = new FaultyStore(new MemoryLeaseStore({ clock }), { clock, plan })
  const usual = { name: 'job', owner: 'anna', heartbeatTimeout: 10_000, clock, logger: silentLogger }
  const work: Work = async (...given) => {
    place.works.push(given)
    const { signal } = given.at(-1) as { signal: AbortSignal }
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
  }
  const made = create(store, { ...usual, ...options }, work)
  const begin = (): void => void Promise.resolve(made.begin()).catch(() => {})
  const settled = async <T>(pending: Promise<T>): Promise<T> => {
    let isOver = false
    void pending.finally(() => (isOver = true)).catch(() => {})
    expect(await clock.time.advanceUntil(() => isOver, 120_000)).toBe(true)
    return await pending
  }
  const working = async (): Promise<unknown> => {
    expect(await clock.time.advanceUntil(() => place.works.length > 0, 60_000)).toBe(true)
    return place.works[0]?.at(-1)
  }
  return { ...made, place, clock, begin, settled, working }
}

const outcomeOf = async (call: () => unknown): Promise<unknown> => {
  try {
    return await call()
  } catch (error) {
    return error
  }
}

describe.each(Object.entries(recipes))('%s', (_, row) => {
  it('gives its work the lease as the last argument, with what the recipe adds', async () => {
    const { recipe, place, clock, begin, settled, working } = createPlace(row)
    begin()
    const held = (await working()) as { readonly validUntil: number; checkLease(): boolean }
    const validUntil = expect.any(Number)
    expect(place.works).toEqual([[...(row.before ?? []), { ...members, validUntil, ...row.adds }]])
    const { validUntil: first } = held
    expect(held.checkLease()).toBe(true)
    expect(first).toBeGreaterThan(clock.now())
    await clock.time.advance(20_000)
    expect(held.validUntil).toBeGreaterThan(first)
    await settled(recipe.stop())
    expect([held.checkLease(), held.validUntil]).toEqual([false, 0])
  })

  it('ends with stop(), once or twice, which aborts the work and `closed`', async () => {
    const { recipe, begin, settled, working } = createPlace(row)
    begin()
    const { signal } = (await working()) as { readonly signal: AbortSignal }
    const { closed } = recipe
    expect([signal.aborted, closed.aborted]).toEqual([false, false])
    const stopped = recipe.stop()
    expect([signal.aborted, closed.aborted, recipe.closed]).toEqual([row.isPatient !== true, true, closed])
    expect(await settled(Promise.all([stopped, recipe.stop()]))).toEqual([undefined, undefined])
    expect(signal.aborted).toBe(true)
    expect(await settled(recipe.stop())).toBeUndefined()
  })

  it('rejects every call after stop() with one error', async () => {
    const { recipe, calls, settled } = createPlace(row)
    await settled(recipe.stop())
    for (const [name, call] of Object.entries(calls)) {
      const error = await settled(outcomeOf(call))
      expect(error, name).toBeInstanceOf(LeaseUnavailableError)
      expect(error, name).toBe(recipe.closed.reason)
    }
    expect(recipe.closed.reason.message).toBe(`${row.subject} was stopped: make another one`)
  })

  it('stops at the end of an `await using` block', async () => {
    const { recipe, settled } = createPlace(row)
    await settled(recipe[Symbol.asyncDispose]())
    expect(recipe.closed.aborted).toBe(true)
  })

  it.each([-1, Number.NaN, '5', null])('rejects a stop() with the timeout %s, and goes on', async (timeout) => {
    const { recipe, begin, working, settled } = createPlace(row)
    begin()
    const { signal } = (await working()) as { readonly signal: AbortSignal }
    await expect(recipe.stop({ timeout: timeout as number })).rejects.toMatchObject({ code: 'configuration' })
    await expect(recipe.stop({ within: 5 } as object)).rejects.toThrow("stop has no option 'within'")
    expect([signal.aborted, recipe.closed.aborted]).toEqual([false, false])
    expect(() => createPlace(row, { stopTimeout: timeout as number })).toThrow(/^stopTimeout must be 0 or more/)
    await settled(recipe.stop())
  })

  it('emits the beginning and the end of an outage, and does its work after it', async () => {
    const { recipe, place, clock, begin, settled, working } = createPlace(row)
    const events: unknown[] = []
    const unheard = (): void => expect.unreachable()
    recipe.on('unreachable', unheard).off('unreachable', unheard)
    recipe.on('unreachable', ({ cause }) => events.push(['unreachable', cause instanceof Error]))
    recipe.on('reachable', () => events.push(['reachable']))
    place.isDown = true
    begin()
    await clock.time.advance(60_000)
    expect(events).toEqual([['unreachable', true]])
    place.isDown = false
    await working()
    expect(events).toEqual([['unreachable', true], ['reachable']])
    await settled(recipe.stop())
  })

  it('reports the error of a listener as an `error` event', async () => {
    const { recipe, place, clock, begin, settled, working } = createPlace(row)
    const errors: unknown[] = []
    const failure = new Error('the listener failed')
    recipe.on('error', (error) => errors.push(error))
    recipe.on('reachable', () => {
      throw failure
    })
    place.isDown = true
    begin()
    await clock.time.advance(60_000)
    place.isDown = false
    await working()
    expect(errors).toContain(failure)
    await settled(recipe.stop())
  })
})

const acting = Object.entries(recipes).filter(([name]) =>
  ['LeaderElection', 'Schedule', 'PartitionGroup'].includes(name),
)

it.each(acting)('%s takes keepAlive: true or false, and nothing else', (_, row) => {
  expect(() => createPlace(row, { keepAlive: 'yes' } as object)).toThrow('keepAlive must be true or false')
})

it('AllOf gives its work the lease as every lease does, valid until the first part ends', async () => {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const parts = [20_000, 10_000].map((heartbeatTimeout) =>
    createLease(store, `part-${heartbeatTimeout}`, { heartbeatTimeout, clock, logger: silentLogger }),
  )
  const whole = new AllOf(parts, { clock, logger: silentLogger })
  await whole.run(async (held) => {
    expect(held).toEqual({ ...members, fencingToken: undefined, validUntil: parts[1]?.validUntil })
    expect(held.checkLease()).toBe(true)
  })
  expect(whole.validUntil).toBe(0)
})
