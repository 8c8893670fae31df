import { describe, expect, it } from 'vitest'
import { type Decision, LifeCycle } from '../../src/life-cycle/life-cycle.js'
import type { StoredLease } from '../../src/life-cycle/stored-lease.js'
import { type Place, WaitQueue } from '../../src/life-cycle/wait-queue.js'

const TTL = 100
const dead = new Set<string>()
const lifeCycle = new LifeCycle({
  store: 'test',
  uncertainty: 7,
  tokenAfter: (last = 40n) => last + 2n,
  isGone: ({ grantId }) => dead.has(grantId),
})

const free: StoredLease = Object.freeze({
  owner: 'earlier',
  grantId: 'earlier',
  fencingToken: 4n,
  ttl: TTL,
  state: 'available',
  lockedUntil: Number.NEGATIVE_INFINITY,
  metadata: Object.freeze({ zone: 'north' }),
  previous: undefined,
})
const leased: StoredLease = Object.freeze({ ...free, state: 'leased', lockedUntil: 2 * TTL })

function queueOf(...places: readonly Place[]): WaitQueue {
  const queue = new WaitQueue()
  for (const place of places) queue.keep(place)
  return queue
}

const request = (grantId: string) => ({ name: 'job', owner: grantId, grantId, ttl: TTL, queue: true })

/** The queue after a decision. */
function orderAfter(queue: WaitQueue, { leave = [], keep }: Decision<unknown>): readonly string[] {
  for (const grantId of leave) queue.remove(grantId)
  if (keep !== undefined) queue.keep(keep)
  return [...queue.places()].map(({ grantId }) => grantId)
}

describe('the life cycle of a lease', () => {
  it('follows the token rule of the store, and locks longer by the uncertainty of its clocks', () => {
    const first = lifeCycle.acquire(request('a'), { now: 0 })
    expect(first.next).toMatchObject({ fencingToken: 42n, lockedUntil: TTL + 7, previous: undefined })
    const next = lifeCycle.acquire(request('a'), { lease: free, now: 0 })
    expect(next.next).toMatchObject({ fencingToken: 6n, previous: { zone: 'north' } })
  })
})

describe('a place in the queue', () => {
  it('is taken by a refused request, and ended by the grant', () => {
    const refused = lifeCycle.acquire(request('a'), { lease: leased, now: 10 })
    expect(refused).toMatchObject({ outcome: { granted: false }, keep: { grantId: 'a', keptUntil: 10 + TTL } })
    const queue = queueOf({ grantId: 'a', keptUntil: TTL })
    expect(lifeCycle.acquire(request('a'), { lease: free, queue, now: 10 })).toMatchObject({
      outcome: { granted: true },
      leave: ['a'],
    })
  })

  it('that ended is lost, whether the name is held or free', () => {
    for (const lease of [leased, free]) {
      const queue = queueOf({ grantId: 'a', keptUntil: 10 }, { grantId: 'b', keptUntil: TTL })
      expect(orderAfter(queue, lifeCycle.acquire(request('a'), { lease, queue, now: 10 }))).toEqual(['b', 'a'])
    }
  })

  it('of a waiter that is gone is skipped', () => {
    dead.add('gone')
    const queue = queueOf({ grantId: 'gone', keptUntil: TTL }, { grantId: 'a', keptUntil: TTL })
    expect(lifeCycle.acquire(request('b'), { lease: free, queue, now: 10 })).toMatchObject({
      outcome: { granted: false },
    })
    const granted = lifeCycle.acquire(request('a'), { lease: free, queue, now: 10 })
    expect(granted).toMatchObject({ outcome: { granted: true }, leave: ['gone', 'a'] })
  })

  it('behind a place that lasts, ended places do not pile up', () => {
    const queue = queueOf({ grantId: 'first', keptUntil: Number.POSITIVE_INFINITY })
    for (let now = 1; now <= 10_000; now += 1) {
      orderAfter(queue, lifeCycle.acquire({ ...request(`${now}`), ttl: 1 }, { lease: free, queue, now }))
    }
    expect(queue.size).toBeLessThan(200)
    expect(lifeCycle.turn(queue, 10_000).first?.grantId).toBe('first')
  })
})
