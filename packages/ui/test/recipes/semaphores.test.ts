import { type Permit, ReadWriteLease, Semaphore } from '@leasehold/recipes'
import { describe, expect, it } from 'vitest'
import { recordOf, START, Town } from './town.js'

describe('the view of a semaphore', () => {
  it('has the permits in use by their slots, and how many wait', async () => {
    const town = new Town()
    const holders = ['anna', 'berta', 'carla', 'dora'].map(
      (owner) => new Semaphore(town.store, { ...town.options, name: 'printers', permits: 2, owner }),
    )
    const [anna, berta, ...others] = holders as [Semaphore, Semaphore, ...Semaphore[]]
    const permit = await town.settled(anna.acquire())
    await town.settled(berta.acquire())
    for (const holder of others) void holder.acquire({ wait: 600_000 }).catch(() => {})
    await town.pass(1_000)
    const { views, recipeOf, relatedTo } = await town.look()
    expect(views.semaphores).toEqual([
      {
        name: 'printers',
        kind: 'semaphore',
        permits: 2,
        waiters: 2,
        inUse: [
          { slot: 0, owner: 'anna', token: expect.stringMatching(/^\d+$/), since: START },
          { slot: 1, owner: 'berta', token: expect.stringMatching(/^\d+$/), since: START },
        ],
      },
    ])
    expect(recipeOf('printers/1')).toEqual({ kind: 'semaphore', name: 'printers' })
    expect(relatedTo('printers/1')).toEqual(['printers', 'printers/0'])
    const before = views
    await town.pass(2_000)
    expect((await town.look()).views).toBe(before)
    await town.settled((permit as Permit).release())
    await town.pass(1_000)
    expect((await town.look()).views.semaphores).toMatchObject([
      {
        waiters: 1,
        inUse: [
          { slot: 0, owner: 'carla' },
          { slot: 1, owner: 'berta' },
        ],
      },
    ])
    for (const holder of holders) await town.settled(holder.stop())
    expect((await town.look()).views.semaphores).toMatchObject([{ permits: 2, inUse: [] }])
  })

  it('has the slots that a larger number left over', () => {
    const { observer } = new Town()
    const metadata = { recipe: 'semaphore', permits: '1', made: '1', slots: '3', next: '0' }
    const records = [
      recordOf('a', metadata, { state: 'available' }),
      ...['a/0', 'a/2', 'a/3', 'a/02', 'a/x', 'ab/0'].map((name) => recordOf(name, {})),
    ]
    const { views, recipeOf } = observer.onListing(records, START)
    expect(views.semaphores[0]?.inUse.map(({ slot }) => slot)).toEqual([0, 2])
    expect([recipeOf('a/x'), recipeOf('ab/0')]).toEqual([undefined, undefined])
  })
})

describe('the view of a read-write lease', () => {
  it('has its readers, then the writer', async () => {
    const town = new Town()
    const [one, other, writer] = ['anna', 'berta', 'carla'].map(
      (owner) => new ReadWriteLease(town.store, { ...town.options, name: 'catalog', readers: 3, owner }),
    ) as [ReadWriteLease, ReadWriteLease, ReadWriteLease]
    for (const { shared } of [one, other]) expect(await town.settled(shared.acquire())).toBe(true)
    const writing = writer.exclusive.acquire({ wait: 600_000 })
    await town.pass(1_000)
    const [view] = (await town.look()).views.semaphores
    expect(view).toMatchObject({
      kind: 'read-write-lease',
      permits: 3,
      inUse: [{ owner: 'anna' }, { owner: 'berta' }],
      waiters: 1,
    })
    expect(view).not.toHaveProperty('writer')
    for (const { shared } of [one, other]) await town.settled(shared.release())
    expect(await town.settled(writing)).toBe(true)
    expect((await town.look()).views.semaphores).toMatchObject([{ writer: 'carla', inUse: [], waiters: 0 }])
    await town.settled(writer.exclusive.release())
    expect((await town.look()).views.semaphores[0]).not.toHaveProperty('writer')
    for (const lease of [one, other, writer]) await town.settled(lease.stop())
  })

  it('has a writer also after a reader had to wait for a slot, and takes no waiting reader for a writer', async () => {
    const town = new Town()
    const [one, other, writer] = ['anna', 'berta', 'carla'].map(
      (owner) => new ReadWriteLease(town.store, { ...town.options, name: 'catalog', readers: 1, owner }),
    ) as [ReadWriteLease, ReadWriteLease, ReadWriteLease]
    await town.settled(one.shared.acquire())
    const reading = other.shared.acquire({ wait: 600_000 })
    await town.pass(1_000)
    const waiting = await town.records()
    const withoutReader = waiting.filter(({ name }) => name !== 'catalog/0')
    expect(town.observer.onListing(withoutReader, town.wall).views.semaphores[0]).not.toHaveProperty('writer')
    await town.settled(one.shared.release())
    expect(await town.settled(reading)).toBe(true)
    await town.settled(other.shared.release())
    expect(await town.settled(writer.exclusive.acquire())).toBe(true)
    await town.pass(1_000)
    expect((await town.look()).views.semaphores).toMatchObject([{ writer: 'carla' }])
    for (const lease of [one, other, writer]) await town.settled(lease.stop())
  })
})
