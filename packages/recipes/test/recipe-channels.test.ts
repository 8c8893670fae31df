import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { breakLease, MemoryLeaseStore } from '@leasehold/core'
import { LeaderElection, PartitionGroup, Schedule, Semaphore } from '@leasehold/recipes'
import { FaultyStore, VirtualClock } from '@leasehold/testkit'
import { afterEach, expect, it } from 'vitest'

const ends: (() => void)[] = []

afterEach(() => {
  for (const end of ends.splice(0)) end()
})

function listen(...names: readonly string[]): (readonly [name: string, message: Record<string, unknown>])[] {
  const told: (readonly [string, Record<string, unknown>])[] = []
  for (const name of names) {
    const note = (message: unknown): void => void told.push([name, message as Record<string, unknown>])
    subscribe(`leasehold:${name}`, note)
    ends.push(() => unsubscribe(`leasehold:${name}`, note))
  }
  return told
}

function createPlace() {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  return { clock, store, options: { name: 'reports', owner: 'anna', clock, heartbeatTimeout: 10_000 } }
}

it('an election tells of its terms', async () => {
  const told = listen('elected', 'resigned')
  const { clock, store, options } = createPlace()
  const election = new LeaderElection(store, options)
  election.start()
  await clock.time.advance(1_000)
  const first = election.term
  await breakLease(store, 'reports', { period: 0, clock })
  await clock.time.advance(30_000)
  const second = election.term
  const stopped = election.stop()
  await clock.time.advance(1_000)
  await stopped
  const of = { election: 'reports', owner: 'anna' }
  expect(told).toEqual([
    ['elected', { ...of, term: first }],
    ['resigned', { ...of, term: first, lost: expect.any(String) }],
    ['elected', { ...of, term: second }],
    ['resigned', { ...of, term: second, lost: undefined }],
  ])
})

it('a schedule tells of each tick that it runs, and of those that it misses', async () => {
  const told = listen('tick')
  const { clock, store, options } = createPlace()
  let takes = 100
  const schedule = new Schedule(store, {
    ...options,
    every: 60_000,
    now: () => new Date(clock.wall()),
    work: () => new Promise<void>((resolve) => void clock.schedule(takes, resolve)),
  })
  schedule.start()
  await clock.time.advance(90_000)
  clock.block(115_000)
  takes = 0
  await clock.time.advance(100_000)
  const stopped = schedule.stop()
  await clock.time.advance(1_000)
  await stopped
  const [first] = told.map(([, message]) => message)
  expect(first).toMatchObject({ schedule: 'reports', owner: 'anna', outcome: 'done', byHand: false, error: undefined })
  expect(first?.lag).toBeLessThan(1_000)
  expect(first?.duration).toBeGreaterThanOrEqual(100)
  const missed = told.find(([, { outcome }]) => outcome === 'missed')?.[1]
  expect(missed).toMatchObject({ schedule: 'reports', lag: undefined, duration: undefined })
  expect(missed?.due).toBeGreaterThan(first?.due as number)
})

it('a semaphore tells of each permit, also of one that is lost', async () => {
  const told = listen('permit')
  const { clock, store, options } = createPlace()
  const semaphore = new Semaphore(store, { ...options, permits: 2 })
  const first = await semaphore.acquire()
  const second = await semaphore.acquire()
  await second?.release()
  await breakLease(store, `reports/${first?.slot}`, { period: 0, clock })
  await clock.time.advance(20_000)
  const of = { semaphore: 'reports', owner: 'anna', permits: 2 }
  expect(told.map(([, message]) => message)).toEqual([
    { ...of, held: true },
    { ...of, held: true },
    { ...of, held: false },
    { ...of, held: false },
  ])
})

it('a semaphore tells of the end of a permit, also if the store does not confirm the release', async () => {
  const told = listen('permit')
  const { clock, store, options } = createPlace()
  const over = new FaultyStore(store, { clock })
  const permit = await new Semaphore(over, { ...options, permits: 2 }).acquire()
  await clock.time.advance(100)
  const release = over.release.bind(over)
  Object.assign(over, { release: () => new Promise(() => {}) })
  const left = expect(permit?.release()).rejects.toThrow('did not answer')
  await clock.time.advance(60_000)
  await left
  Object.assign(over, { release })
  expect(told.map(([, { held }]) => held)).toEqual([true, false])
})

it('a partition group tells of its partitions', async () => {
  const told = listen('partition', 'partitions')
  const { clock, store, options } = createPlace()
  const group = new PartitionGroup(store, {
    ...options,
    partitions: 2,
    onAssigned: ({ signal }) => new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve())),
  })
  group.start()
  await clock.time.advance(60_000)
  const stopped = group.stop()
  await clock.time.advance(5_000)
  await stopped
  const of = { group: 'reports', owner: 'anna' }
  const partitions = told.filter(([name]) => name === 'partition').map(([, message]) => message)
  expect(partitions.slice(0, 2)).toEqual([
    { ...of, partition: 0, state: 'held' },
    { ...of, partition: 1, state: 'held' },
  ])
  expect(partitions.slice(2)).toEqual([
    { ...of, partition: 0, state: 'released' },
    { ...of, partition: 1, state: 'released' },
  ])
  const looks = told.filter(([name]) => name === 'partitions').map(([, message]) => message)
  expect(looks[0]).toEqual({ ...of, wanted: 2, held: 0, unowned: 2 })
  expect(looks.at(-1)).toEqual({ ...of, wanted: 2, held: 2, unowned: 0 })
})
