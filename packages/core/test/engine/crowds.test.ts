import {
  type CreateLeaseOptions,
  createLease,
  type Grant,
  type LeaseStore,
  MemoryLeaseStore,
  type RenewalStrategy,
  type StoreLease,
} from '@leasehold/core'
import type { AcquireOutcome, AcquireRequest, RenewOutcome, StoreCall } from '@leasehold/core/store'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

const LEASES = 1_100

/** How many heartbeats of a store are under way at most, and how many claims that are repeated. */
const MOST = 1_024

const INTERVAL = 10_000
const LIMIT = 5_000
/** By how much a heartbeat is earlier at most, so that others can go with it. */
const FORWARD = INTERVAL / 16
const times = { heartbeatTimeout: 60_000, heartbeatInterval: INTERVAL, operationTimeout: LIMIT }

/** A store that can stop to answer, and counts the requests that are under way. */
function setUpStore() {
  const clock = new VirtualClock()
  const memory = new MemoryLeaseStore({ clock })
  const seen = { underWay: 0, most: 0, sent: 0 }
  let hanging: (() => void)[] | undefined
  const counted = async <T>(count: number, call: StoreCall, answer: () => Promise<T>): Promise<T> => {
    seen.underWay += count
    seen.sent += count
    seen.most = Math.max(seen.most, seen.underWay)
    await new Promise<void>((resolve, reject) => {
      if (hanging === undefined) resolve()
      else hanging.push(resolve)
      call.onAbort(() => {
        seen.underWay -= count
        reject(call.signal.reason)
      })
    })
    seen.underWay -= count
    return await answer()
  }
  const hang = (): void => {
    hanging = []
  }
  const goOn = (): void => {
    for (const answer of hanging ?? []) answer()
    hanging = undefined
  }
  return { clock, memory, seen, counted, hang, goOn }
}

/** Many leases that are held, and whose heartbeats are all due within a second. */
async function setUp(options: CreateLeaseOptions = {}) {
  const { clock, memory, seen, counted, hang, goOn } = setUpStore()
  const renewMany = (grants: readonly Grant[], call: StoreCall): Promise<readonly RenewOutcome[]> =>
    counted(grants.length, call, () => Promise.all(grants.map((grant) => memory.renew(grant))))
  const store: LeaseStore = Object.assign(memory, { renewMany })
  const told: { readonly lease: number; readonly event: 'jeopardy' | 'lost' | 'renewed' }[] = []
  const leases: StoreLease[] = []
  for (let lease = 0; lease < LEASES; lease += 1) {
    const held = createLease(store, `job ${lease}`, { ...times, clock, random: () => 0, ...options })
    held.on('jeopardy', () => told.push({ lease, event: 'jeopardy' }))
    held.on('renewed', () => told.push({ lease, event: 'renewed' }))
    leases.push(held)
    await held.acquire({ onLost: () => told.push({ lease, event: 'lost' }) })
  }
  const count = (event: string): number =>
    new Set(told.filter((one) => one.event === event).map(({ lease }) => lease)).size
  return {
    clock,
    seen,
    told,
    count,
    hang,
    goOn,
    valid: () => leases.filter((lease) => lease.checkLease()).length,
  }
}

describe('more heartbeats than a store answers', () => {
  it('wait before they are sent, and are sent as soon as the store answers', async () => {
    const { clock, seen, count, hang, goOn } = await setUp()
    hang()
    await clock.advance(INTERVAL + LIMIT / 2)
    expect(seen).toEqual({ underWay: MOST, most: MOST, sent: MOST })
    goOn()
    await clock.advance(LIMIT / 4)
    expect([count('renewed'), count('jeopardy'), seen.most]).toEqual([LEASES, 0, MOST])
  })

  it('wait while the store hangs: each holder learns of the jeopardy before the loss', async () => {
    const { clock, seen, told, count, hang } = await setUp()
    hang()
    await clock.advance(INTERVAL + 2 * LIMIT)
    expect([count('jeopardy'), count('lost')]).toEqual([LEASES, 0])
    await clock.advance(times.heartbeatTimeout)
    expect([count('lost'), seen.most]).toEqual([LEASES, MOST])
    const first = new Map(told.toReversed().map(({ lease, event }) => [lease, event]))
    expect([...first.values()].every((event) => event === 'jeopardy')).toBe(true)
  })

  it('are late after a time limit, although those under way are given more time', async () => {
    const strategy: RenewalStrategy = {
      name: 'patient',
      check: () => undefined,
      plan: () => ({ after: INTERVAL, attemptTimeout: 4 * LIMIT }),
    }
    const { clock, count, told, seen, hang } = await setUp({ strategy })
    hang()
    await clock.advance(INTERVAL - FORWARD + LIMIT - 1)
    expect(told).toEqual([])
    await clock.advance(FORWARD + 1)
    expect([count('jeopardy'), seen.most]).toEqual([LEASES - MOST, MOST])
  })

  it('are repeated when the store answers again, and nothing is lost', async () => {
    const { clock, count, hang, goOn, valid } = await setUp()
    hang()
    await clock.advance(INTERVAL + 6 * LIMIT)
    goOn()
    await clock.advance(LIMIT + 1_000)
    expect([count('renewed'), count('lost'), valid()]).toEqual([LEASES, 0, LEASES])
  })
})

/** The store of the set-up, which counts claims. */
function countClaims({ memory, counted }: ReturnType<typeof setUpStore>): LeaseStore {
  const acquire = memory.acquire.bind(memory)
  return Object.assign(memory, {
    acquire: (request: AcquireRequest, call: StoreCall): Promise<AcquireOutcome> =>
      counted(1, call, () => acquire(request)),
  })
}

/** Many waiters for names that nobody holds, over a store that does not answer. */
async function setUpWaiters(wait: number) {
  const server = setUpStore()
  const { clock, seen, hang, goOn } = server
  const store = countClaims(server)
  hang()
  const ends = { granted: 0, failed: 0 }
  for (let lease = 0; lease < LEASES; lease += 1) {
    const waiting = createLease(store, `job ${lease}`, { ...times, clock, random: () => 0.5 }).acquire({ wait })
    waiting.then(
      () => (ends.granted += 1),
      () => (ends.failed += 1),
    )
  }
  await clock.settle()
  expect(seen).toEqual({ underWay: LEASES, most: LEASES, sent: LEASES })
  await clock.advance(LIMIT)
  seen.most = 0
  return { clock, seen, ends, goOn }
}

describe('more claims than a store answers', () => {
  it('wait before they are repeated, and their callers wait no longer than they said', async () => {
    const { clock, seen, ends } = await setUpWaiters(12_000)
    await clock.advance(12_000 - LIMIT)
    // The callers of the others end with the claims that are under way.
    expect([seen.most, ends]).toEqual([MOST, { granted: 0, failed: LEASES - MOST }])
    await clock.advance(LIMIT)
    expect(ends).toEqual({ granted: 0, failed: LEASES })
  })

  it('are repeated when the store answers again', async () => {
    const { clock, ends, goOn } = await setUpWaiters(60_000)
    await clock.advance(20_000)
    goOn()
    await clock.advance(LIMIT + 1_000)
    expect(ends).toEqual({ granted: LEASES, failed: 0 })
  })

  it('wait before they are sent, where the turn of many waiters comes at once', async () => {
    const server = setUpStore()
    const { clock, seen, hang, goOn } = server
    const store = countClaims(server)
    const [holders, waiters] = ['holder', 'waiter'].map((owner) =>
      Array.from({ length: LEASES }, (_, lease) => createLease(store, `job ${lease}`, { ...times, clock, owner })),
    )
    for (const holder of holders ?? []) await holder.acquire()
    let granted = 0
    for (const waiter of waiters ?? []) void waiter.acquire({ wait: 60_000 }).then(() => (granted += 1))
    await clock.settle()
    seen.most = 0
    hang()
    await Promise.all((holders ?? []).map((holder) => holder.release()))
    await clock.advance(LIMIT / 4)
    expect([seen.most, granted]).toEqual([MOST, 0])
    goOn()
    await clock.advance(LIMIT / 4)
    expect([seen.most, granted]).toEqual([MOST, LEASES])
  })
})
