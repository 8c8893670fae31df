import { createLease, LeaseConfigurationError, LeaseNameError, MemoryLeaseStore, type Metadata } from '@leasehold/core'
import { type GroupMember, PartitionGroup, type PartitionGroupOptions, readPartitionGroup } from '@leasehold/recipes'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'
import { createReader } from './programs/addresses.js'

/** A store in virtual time, with workers that record their errors. */
function createPlace(limits: { readonly metadata?: number } = {}) {
  const time = new VirtualTime()
  const clock = new VirtualClock({ time })
  const store = new MemoryLeaseStore({ clock })
  Object.defineProperty(store, 'limits', { value: { ...store.limits, ...limits } })
  const errors: unknown[] = []
  const create = (more: Partial<PartitionGroupOptions> = {}): PartitionGroup => {
    const group = new PartitionGroup(store, {
      name: 'group',
      partitions: 4,
      onAssigned: () => {},
      heartbeatTimeout: 10_000,
      heartbeatInterval: 1_000,
      operationTimeout: 3_000,
      rebalanceInterval: 500,
      stopTimeout: 3_000,
      clock,
      random: () => 0.5,
      ...more,
    })
    return group.on('error', (error) => errors.push(error))
  }
  const start = (more: Partial<PartitionGroupOptions> = {}): PartitionGroup => {
    const group = create(more)
    group.start()
    return group
  }
  /** Settles in virtual time. */
  const settled = async <T>(promise: Promise<T>): Promise<T> => {
    let isOver = false
    const over = (): void => {
      isOver = true
    }
    void promise.then(over, over)
    expect(await time.advanceUntil(() => isOver, 20_000)).toBe(true)
    return promise
  }
  const stop = (...groups: readonly PartitionGroup[]) => settled(Promise.all(groups.map((group) => group.stop())))
  const read = (name = 'group') => settled(readPartitionGroup(store, name, { clock }))
  return { time, clock, store, errors, create, start, stop, read, settled }
}

const owners = (members: readonly GroupMember[]): string[] => members.map(({ owner }) => owner).sort()

describe('the members of a partition group', () => {
  it('are shown after each round, this worker too', async () => {
    const { time, start, stop } = createPlace()
    const seen: (readonly GroupMember[])[] = []
    const one = start({ owner: 'one', metadata: { address: 'http://one', recipe: 'x', share: 'h4' } })
    const two = start({ owner: 'two', metadata: { address: 'http://two' } })
    one.on('members', (members) => seen.push(members))
    await time.advance(5_000)
    const last = seen.at(-1) ?? []
    expect(seen.length).toBeGreaterThan(5)
    expect(owners(last)).toEqual(['one', 'two'])
    expect(last.find(({ owner }) => owner === 'one')).toEqual({
      owner: 'one',
      metadata: { address: 'http://one', recipe: 'x', share: 'h4' },
      partitions: 4,
      held: one.assigned,
      draining: [],
      claimed: [],
      isLeaving: false,
    })
    expect(last.find(({ owner }) => owner === 'two')).toMatchObject({
      metadata: { address: 'http://two' },
      held: two.assigned,
    })
    await stop(one, two)
  })

  it('show a share again that a late duplicate of an earlier write has replaced, and write nothing otherwise', async () => {
    const { time, store, start, stop, read } = createPlace()
    let updates = 0
    const { update } = store
    store.update = (...asked) => {
      updates += 1
      return update.apply(store, asked)
    }
    const group = start({ owner: 'one' })
    await time.advance(5_000)
    const record = await store.read('group/members/0')
    const { ttl = 0, ...grant } = record ?? expect.unreachable()
    const before = updates
    await time.advance(5_000)
    expect(updates).toBe(before)
    await update.call(store, { ...grant, ttl }, { ...grant.metadata, share: 'c4' })
    expect(await read()).toMatchObject([{ held: [] }])
    await time.advance(1_000)
    expect(await read()).toMatchObject([{ owner: 'one', held: [0, 1, 2, 3] }])
    expect(updates).toBe(before + 1)
    await stop(group)
  })

  it('are read from the store without a start, and after a stop', async () => {
    const { time, create, start, stop, read, settled } = createPlace()
    expect(await read()).toEqual([])
    const group = start({ owner: 'one', metadata: { address: 'a' } })
    await time.advance(3_000)
    const idle = create()
    const [member] = await read()
    expect(member).toMatchObject({ owner: 'one', metadata: { address: 'a' }, held: [0, 1, 2, 3] })
    expect(await settled(idle.members())).toEqual([member])
    await stop(group)
    expect(await settled(group.members())).toEqual([])
  })

  it('show what they drain, and that they leave', async () => {
    const { time, start, stop, read } = createPlace()
    const slow = start({ owner: 'slow', onAssigned: () => new Promise(() => {}) })
    await time.advance(3_000)
    const next = start({ owner: 'next' })
    await time.advance(2_000)
    const draining = (await read()).find(({ owner }) => owner === 'slow')
    expect(draining?.draining).toHaveLength(2)
    expect(draining?.isLeaving).toBe(false)
    await time.advance(3_500)
    const stopping = slow.stop()
    await time.advance(2_000)
    expect((await read()).find(({ owner }) => owner === 'slow')?.isLeaving).toBe(true)
    await time.advance(5_000)
    await stopping
    await stop(next)
  })

  it('show a grant and a release before the next round, if they show metadata', async () => {
    const { time, start, stop, read } = createPlace()
    const slow = { rebalanceInterval: 8_000, random: () => 0.5 }
    const silent = start({ ...slow, name: 'silent' })
    const one = start({ ...slow, metadata: { address: 'a' } })
    // The partitions are claimed in the second round.
    await time.advance(8_000)
    for (let passed = 0; one.assigned.length < 4 && passed < 8_000; passed += 100) await time.advance(100)
    await time.advance(200)
    expect((await read())[0]).toMatchObject({ held: [0, 1, 2, 3], claimed: [] })
    await time.advance(1_000)
    expect((await read('silent'))[0]).toMatchObject({ held: [], claimed: [0, 1, 2, 3] })
    await stop(one, silent)
  })

  it('have what a function returns, read in each round', async () => {
    const { time, start, stop, read } = createPlace()
    let entities = 0
    const group = start({ metadata: () => ({ entities: String(entities) }) })
    await time.advance(2_000)
    expect((await read())[0]?.metadata).toEqual({ entities: '0' })
    entities = 7
    await time.advance(2_000)
    expect((await read())[0]?.metadata).toEqual({ entities: '7' })
    await stop(group)
  })

  it('go on showing the last metadata while the function fails, and report each failure once', async () => {
    const { time, start, stop, read, errors } = createPlace()
    let give = (): unknown => ({ a: '1' })
    const group = start({ metadata: () => give() as Metadata })
    await time.advance(3_000)
    for (const [wrong, message] of [
      [() => Promise.resolve({ a: '2' }), /metadata must be an object of texts, not a promise/],
      [() => ({ a: 2 }), /metadata.a must be a text, not 2/],
      [() => undefined, /metadata must be an object of texts/],
      [() => ({ a: 'x'.repeat(5_000) }), /metadata takes 5008 bytes of a member's record, which leaves room for 0/],
      [
        () => {
          throw new Error('not now')
        },
        /not now/,
      ],
    ] as const) {
      give = wrong
      await time.advance(3_000)
      expect(errors.splice(0).map(String)).toEqual([expect.stringMatching(message)])
      expect((await read())[0]?.metadata).toEqual({ a: '1' })
      expect(group.assigned).toEqual([0, 1, 2, 3])
    }
    give = () => ({ a: '3' })
    await time.advance(2_000)
    expect((await read())[0]?.metadata).toEqual({ a: '3' })
    expect(errors).toEqual([])
    await stop(group)
  })

  it('leave less room for partitions if they show metadata', () => {
    const { create } = createPlace({ metadata: 400 })
    expect(() => create({ partitions: 900 })).not.toThrow()
    expect(() => create({ partitions: 900, metadata: {} })).not.toThrow()
    expect(() => create({ partitions: 800, metadata: { address: 'x'.repeat(10) } })).not.toThrow()
    expect(() => create({ partitions: 900, metadata: { address: 'x'.repeat(10) } })).toThrow(
      "metadata takes 24 bytes of a member's record, which leaves room for 828 partitions, not 900: show less, or form several groups",
    )
    expect(() => create({ metadata: 7 as never })).toThrow(LeaseConfigurationError)
    expect(() => create({ metadata: null as never })).toThrow(LeaseConfigurationError)
    expect(() => create({ metadata: { entities: 7 } as never })).toThrow('metadata.entities must be a text, not 7')
  })

  it('are read from records that show no metadata, or nothing valid', async () => {
    const { clock, store, read, settled } = createPlace()
    for (const [place, metadata] of [
      ['2', { recipe: 'partition-group', partitions: '4', share: 'h2d1c1' }],
      ['3', { partitions: 'many', share: '???' }],
      ['4', { recipe: 'once' }],
    ] as const) {
      const lease = createLease(store, `group/members/${place}`, { clock, owner: `at ${place}`, strategy: 'manual' })
      await settled(lease.acquire({ metadata }))
    }
    const none = { metadata: {}, held: [], draining: [], claimed: [], isLeaving: false }
    expect(await read()).toEqual([
      { ...none, owner: 'at 2', partitions: 4, held: [0, 1], draining: [2], claimed: [3] },
      { ...none, owner: 'at 3', partitions: 0 },
    ])
  })

  it('are the way to the owner of a partition', async () => {
    const { time, clock, store, stop } = createPlace()
    const more = { clock, heartbeatTimeout: 10_000, operationTimeout: 1_000 }
    const readers = ['http://one', 'http://two'].map((address) => createReader(store, address, more))
    for (const { group } of readers) group.start()
    await time.advance(20_000)
    const [one, two] = readers
    expect(one?.group.assigned).toHaveLength(32)
    for (const { addressOf } of readers) {
      for (const partition of one?.group.assigned ?? []) expect(addressOf(partition)).toBe('http://one')
      for (const partition of two?.group.assigned ?? []) expect(addressOf(partition)).toBe('http://two')
    }
    await stop(...readers.map(({ group }) => group))
  })

  it('are not read with a wrong name or option', async () => {
    const { store } = createPlace()
    await expect(readPartitionGroup(store, '')).rejects.toThrow(LeaseNameError)
    await expect(readPartitionGroup(store, 'group', { timout: 1 } as never)).rejects.toThrow(
      "readPartitionGroup has no option 'timout': did you mean 'timeout'",
    )
    const poor = { kind: 'poor', limits: {} } as never
    await expect(readPartitionGroup(poor, 'group')).rejects.toThrow(/the poor store cannot list/)
  })
})
