import { createLease, LeaseConfigurationError, MemoryLeaseStore, readLease } from '@leasehold/core'
import {
  LeaderElection,
  LeaseManager,
  Once,
  PartitionGroup,
  ReadWriteLease,
  Schedule,
  Semaphore,
  SingleFlight,
} from '@leasehold/recipes'
import { VirtualClock } from '@leasehold/testkit'
import { describe, expect, it, vi } from 'vitest'

const NAME = 'job'

function createPlace() {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const options = { clock, logger: { debug() {}, info() {}, warn() {}, error() {} } }
  /** Waits for something that takes virtual time. */
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false
    const end = (): void => {
      isOver = true
    }
    promise.then(end, end)
    expect(await clock.time.advanceUntil(() => isOver, 120_000)).toBe(true)
    return await promise
  }
  const metadata = async () => (await settled(readLease(store, NAME, { clock })))?.metadata
  return { clock, store, options, settled, metadata }
}

type Place = ReturnType<typeof createPlace>

const unreachable = (): never => expect.unreachable('the work was done')

/** Leads for a term. */
async function lead({ clock, store, options, settled }: Place): Promise<unknown> {
  const election = new LeaderElection(store, { name: NAME, ...options, metadata: { url: 'http://a' } })
  const failure = new Promise((resolve) => {
    election.on('error', resolve)
    election.on('elected', () => resolve(undefined))
  })
  election.start()
  const error = await settled(failure)
  await clock.time.advance(60_000)
  await settled(election.stop())
  return error
}

/** Attends to a tick. */
async function attend({ clock, store, options, settled }: Place): Promise<void> {
  const lines: string[] = []
  const logger = { ...options.logger, warn: (line: string) => void lines.push(line) }
  const now = (): Date => new Date(clock.now())
  const schedule = new Schedule(store, { name: NAME, every: 1_000, work: () => {}, clock, logger, now })
  schedule.start()
  await clock.time.advance(20_000)
  await settled(schedule.stop())
  const reading = settled(schedule.read())
  const isRefused = await reading.then(
    () => false,
    () => true,
  )
  // At growing intervals.
  expect(lines.length).toBeLessThanOrEqual(3)
  expect(lines.filter((line) => line.includes('is a name of the recipe')).length > 0).toBe(isRefused)
  await reading
}

const users: Readonly<Record<string, (place: Place) => Promise<unknown>>> = {
  once: ({ store, options, settled }) => settled(new Once(store, options).run(NAME, async () => 'by once')),
  'lease-manager': ({ store, options, settled }) =>
    settled(new LeaseManager(store, options).processEach([NAME], async () => {})),
  schedule: attend,
  semaphore: ({ store, options, settled }) =>
    settled(new Semaphore(store, { name: NAME, permits: 2, ...options }).run(async () => {})),
  'single-flight': ({ store, options, settled }) =>
    settled(new SingleFlight(store, options).get(NAME, async () => 1, { freshFor: 60_000 })),
  'read-write-lease': ({ store, options, settled }) =>
    settled(new ReadWriteLease(store, { name: NAME, readers: 2, ...options }).shared.run(async () => {})),
  'leader-election': async (place) => {
    const error = await lead(place)
    if (error !== undefined) throw error
  },
}

describe('the name of a recipe', () => {
  for (const [first, use] of Object.entries(users)) {
    it(`is noted in the records of ${first}, which ${first} uses again`, async () => {
      const place = createPlace()
      await use(place)
      expect(await place.metadata()).toMatchObject({ recipe: first })
      await use(place)
    })

    for (const [second, useToo] of Object.entries(users)) {
      if (first === second) continue
      it(`keeps ${second} from a record of ${first}, which stays as it was`, async () => {
        const place = createPlace()
        await use(place)
        const left = await place.metadata()
        const error: unknown = await useToo(place).catch((reason: unknown) => reason)
        expect(error).toBeInstanceOf(LeaseConfigurationError)
        expect(error).toMatchObject({
          leaseName: NAME,
          message: `'job' is a name of the recipe '${first}', so '${second}' cannot use it: give one of them another name`,
        })
        expect(await place.metadata()).toEqual(left)
      })
    }
  }

  it('keeps the other methods of Once from the record of another recipe', async () => {
    const place = createPlace()
    const { store, options, settled, metadata } = place
    await settled(new LeaseManager(store, options).processEach([NAME], async () => {}))
    const left = await metadata()
    const once = new Once(store, options)
    await expect(settled(once.read(NAME))).rejects.toThrow(LeaseConfigurationError)
    await expect(settled(once.forget(NAME))).rejects.toThrow(LeaseConfigurationError)
    expect(await metadata()).toEqual(left)
  })

  it('keeps the observers of an election from the record of another recipe', async () => {
    const { clock, store, options, settled } = createPlace()
    const once = new Once(store, options)
    await settled(once.run(NAME, async () => {}))
    const election = new LeaderElection(store, { name: NAME, ...options })
    await expect(settled(election.leader())).rejects.toThrow(LeaseConfigurationError)
    const seen: unknown[] = []
    election.on('error', (error) => seen.push(error))
    const observing = (async () => {
      for await (const leader of election.observe()) seen.push(leader)
    })()
    await clock.time.advance(60_000)
    expect(seen).toEqual([expect.any(LeaseConfigurationError)])
    await settled(once.forget(NAME))
    await clock.time.advance(60_000)
    expect(seen.slice(1)).toEqual([undefined])
    await settled(election.stop())
    await observing
  })

  it('keeps an election from the grants of a name until the other recipe has given it up', async () => {
    const { clock, store, options, settled } = createPlace()
    const once = new Once(store, options)
    await settled(once.run(NAME, async () => {}))
    const acquire = vi.spyOn(store, 'acquire')
    const election = new LeaderElection(store, { name: NAME, ...options })
    election.start()
    await clock.time.advance(60_000)
    expect(acquire).toHaveBeenCalledTimes(1)
    await settled(once.forget(NAME))
    await clock.time.advance(60_000)
    expect(election.isLeader).toBe(true)
    await settled(election.stop())
  })

  it('is not shown in the metadata of a leader, and cannot be given there', async () => {
    const place = createPlace()
    const { store, options, settled } = place
    const election = new LeaderElection(store, { name: NAME, ...options, metadata: { url: 'http://a' } })
    election.start()
    await place.clock.time.advance(10)
    expect((await settled(election.leader()))?.metadata).toEqual({ url: 'http://a' })
    await settled(election.stop())
    const reserved = () => new LeaderElection(store, { name: NAME, ...options, metadata: { recipe: 'soup' } })
    expect(reserved).toThrow("the metadata of a leader must not have the key 'recipe'")
  })

  it('keeps a group from partitions and places that are records of another recipe', async () => {
    const { clock, store, options, settled } = createPlace()
    const once = new Once(store, options)
    for (const key of ['g/partitions/0', 'g/members/0']) await settled(once.run(key, async () => key))
    const errors: unknown[] = []
    const logger = { ...options.logger, error: (_: string, error: unknown) => void errors.push(error) }
    const assigned: number[] = []
    const onAssigned = ({ partition }: { readonly partition: number }) => void assigned.push(partition)
    const group = new PartitionGroup(store, { name: 'g', partitions: 2, onAssigned, clock, logger })
    group.start()
    // In small steps: a listing takes several turns of the event loop, and its time limit is the next timer.
    for (let second = 0; second < 60; second += 1) await clock.time.advance(1_000)
    expect(assigned).toEqual([1])
    expect(errors[0]).toBeInstanceOf(LeaseConfigurationError)
    await settled(group.stop())
    for (const key of ['g/partitions/0', 'g/members/0']) expect(await settled(once.run(key, unreachable))).toBe(key)
  })

  it('is not asked of a record that a plain lease has left', async () => {
    for (const use of Object.values(users)) {
      const place = createPlace()
      const { store, clock, settled } = place
      const plain = createLease(store, NAME, { clock })
      await settled(plain.acquire({ metadata: { note: 'by hand', doneBy: 'somebody', doneIn: '' } }))
      await settled(plain.release())
      await use(place)
      expect(await place.metadata()).toHaveProperty('recipe')
    }
  })
})
