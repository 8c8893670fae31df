import { healthOf, type LeaseStore, MemoryLeaseStore } from '@leasehold/core'
import { LeaderElection, LeaseManager, PartitionGroup, Schedule } from '@leasehold/recipes'
import { silentLogger } from '@leasehold/testing'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

const TTL = 10_000
const MINUTE = 60_000

/** A store that fails while `isDown`, and the options of recipes over it. */
function createPlace() {
  const clock = new VirtualClock()
  const place = { isDown: false }
  const plan = () => (place.isDown ? ({ kind: 'fail-before' } as const) : undefined)
  const store: LeaseStore = new FaultyStore(new MemoryLeaseStore({ clock }), { plan, clock })
  const times = { heartbeatTimeout: TTL, heartbeatInterval: 2_000, operationTimeout: 1_000 }
  return { clock, place, store, options: { ...times, owner: 'me', clock, logger: silentLogger, random: () => 0.5 } }
}

/** Work that ignores its signal until it is ended. */
function stubborn() {
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return { work: () => ended, end: () => end() }
}

describe('the health of an election', () => {
  it('is good for a leader, and for a candidate that waits for its turn', async () => {
    const { clock, store, options } = createPlace()
    const leader = new LeaderElection(store, { ...options, name: 'job' })
    const standby = new LeaderElection(store, { ...options, name: 'job', owner: 'other' })
    for (const election of [leader, standby]) election.start()
    await clock.advance(MINUTE)
    expect([leader, standby].map((election) => healthOf(election).healthy)).toEqual([true, true])
    expect(healthOf(leader).details).toEqual({ owner: 'me', isLeader: true, term: String(leader.term) })
    expect(healthOf(standby).details).toEqual({ owner: 'other', isLeader: false })
    for (const election of [standby, leader]) await election.stop()
  })

  it('is bad while the work of a lost term goes on, and good when it has ended', async () => {
    const { clock, place, store, options } = createPlace()
    const { work, end } = stubborn()
    const election = new LeaderElection(store, { ...options, name: 'job', onElected: work })
    election.start()
    await clock.advance(1_000)
    place.isDown = true
    await clock.advance(3_000)
    expect(healthOf(election).reason).toMatch(/the heartbeats of lease 'job' fail/)
    await clock.advance(TTL)
    expect(healthOf(election).reason).toMatch(/election 'job': term \d+ is not valid any more, and its work goes on/)
    place.isDown = false
    end()
    await clock.advance(MINUTE)
    expect(healthOf(election).healthy).toBe(true)
    await election.stop()
  })

  it('is bad when the store has failed for longer than a ttl', async () => {
    const { clock, place, store, options } = createPlace()
    const election = new LeaderElection(store, { ...options, name: 'job' })
    place.isDown = true
    election.start()
    await clock.advance(TTL / 2)
    expect(healthOf(election).healthy).toBe(true)
    await clock.advance(TTL)
    expect(healthOf(election).reason).toMatch(
      /election 'job': the store cannot be reached, or refuses it, for \d+ s now/,
    )
    await election.stop()
  })
})

describe('the health of a schedule', () => {
  const start = (missed: 'skip' | 'run-once' | undefined) => {
    const fixture = createPlace()
    const { clock, store, options } = fixture
    const work = (): void => {}
    const now = (): Date => new Date(clock.now())
    const every = { every: 10 * MINUTE, anchor: new Date(0), now, work, ...(missed === undefined ? {} : { missed }) }
    const schedule = new Schedule(store, { ...options, name: 'report', ...every } as never)
    schedule.start()
    return { ...fixture, schedule }
  }

  it('is good while ticks are run', async () => {
    const { clock, schedule } = start(undefined)
    await clock.advance(25 * MINUTE)
    expect(healthOf(schedule)).toEqual({
      healthy: true,
      reason: undefined,
      details: { next: new Date(30 * MINUTE).toISOString() },
    })
    await schedule.stop()
  })

  it('is bad while a due tick cannot be decided, and good when it was run', async () => {
    const { clock, place, schedule } = start(undefined)
    await clock.advance(9 * MINUTE)
    place.isDown = true
    await clock.advance(2 * MINUTE)
    expect(healthOf(schedule).reason).toContain(`the tick of ${new Date(10 * MINUTE).toISOString()} is due`)
    place.isDown = false
    await clock.advance(2 * MINUTE)
    expect(healthOf(schedule).healthy).toBe(true)
    await schedule.stop()
  })

  it('is bad after a tick that came too late, until the next one', async () => {
    const { clock, schedule } = start('skip')
    await clock.advance(9 * MINUTE)
    clock.block(5 * MINUTE)
    await clock.advance(1_000)
    expect(healthOf(schedule).reason).toContain('this instance came too late to the tick of 1970-01-01T00:10:00.000Z')
    await clock.advance(7 * MINUTE)
    expect(healthOf(schedule).healthy).toBe(true)
    await schedule.stop()
  })
})

describe('the health of a lease manager', () => {
  it('is that of its leases', async () => {
    const { clock, place, store, options } = createPlace()
    const manager = new LeaseManager(store, options)
    expect(healthOf(manager)).toEqual({ healthy: true, reason: undefined, details: { leases: [] } })
    await manager.acquireWithAutoRenew('a')
    await manager.acquireWithAutoRenew('b')
    expect(healthOf(manager).healthy).toBe(true)
    place.isDown = true
    await clock.advance(3_000)
    expect(healthOf(manager).reason).toMatch(/the heartbeats of lease 'a' fail/)
    place.isDown = false
    await clock.advance(3_000)
    expect(healthOf(manager).healthy).toBe(true)
    await manager.stop()
  })
})

describe('the health of a partition group', () => {
  it('is bad while heartbeats fail, and while work goes on without its partition', async () => {
    const { clock, place, store, options } = createPlace()
    const { work, end } = stubborn()
    const group = new PartitionGroup(store, { ...options, name: 'group', partitions: 2, onAssigned: work })
    group.start()
    await clock.advance(MINUTE)
    expect(healthOf(group)).toEqual({
      healthy: true,
      reason: undefined,
      details: { owner: 'me', assigned: [0, 1], isMember: true },
    })
    place.isDown = true
    await clock.advance(4_000)
    expect(healthOf(group).healthy).toBe(false)
    await clock.advance(TTL)
    expect(healthOf(group).reason).toMatch(/lease 'group\/partitions\/\d' was lost, and its work goes on/)
    place.isDown = false
    end()
    await clock.advance(MINUTE)
    expect(healthOf(group).healthy).toBe(true)
    await group.stop()
  })
})
