import {
  createLease,
  LeaseConfigurationError,
  LeaseNameError,
  type LeaseStore,
  LeaseUnavailableError,
  listLeases,
  MemoryLeaseStore,
} from '@leasehold/core'
import { type AssignedPartition, PartitionGroup, type PartitionGroupOptions } from '@leasehold/recipes'
import { VirtualClock, VirtualTime } from '@leasehold/testkit'
import { describe, expect, it } from 'vitest'

const TTL = 10_000

/** A store in virtual time, with workers that record their errors. */
function createPlace() {
  const time = new VirtualTime()
  const clock = new VirtualClock({ time })
  const store = new MemoryLeaseStore({ clock })
  const logged: string[] = []
  const log = (message: string): void => void logged.push(message)
  const logger = { debug() {}, info() {}, warn: log, error: log }
  const options = {
    name: 'group',
    partitions: 4,
    onAssigned: () => {},
    heartbeatTimeout: TTL,
    heartbeatInterval: 1_000,
    operationTimeout: 500,
    rebalanceInterval: 500,
    stopTimeout: 3_000,
    clock,
    logger,
    random: () => 0.5,
  } satisfies PartitionGroupOptions
  const start = (more: Partial<PartitionGroupOptions> = {}): PartitionGroup => {
    const group = new PartitionGroup(store, { ...options, ...more })
    group.start()
    return group
  }
  return { time, clock, store, logged, options, start }
}

describe('PartitionGroup', () => {
  it('rejects options that are unknown or invalid', () => {
    const { store, options } = createPlace()
    const create = (more: object) => () => new PartitionGroup(store, { ...options, ...more })
    expect(create({ partition: 3 })).toThrow(/PartitionGroup has no option 'partition': did you mean 'partitions'/)
    expect(create({ partitions: 0 })).toThrow('partitions must be a whole number of 1 or more, not 0')
    expect(create({ partitions: 1.5 })).toThrow(LeaseConfigurationError)
    expect(create({ partitions: 20_000 })).toThrow(/room for 11988: form several groups/)
    expect(create({ onAssigned: 'read' })).toThrow('onAssigned must be a function, such as async (held) => …, not read')
    expect(create({ stopTimeout: -1 })).toThrow('stopTimeout must be 0 or more milliseconds, or Infinity, not -1')
    expect(create({ rebalanceInterval: 0 })).toThrow(/rebalanceInterval must be a positive, finite number/)
    expect(create({ heartbeatTimeout: Number.POSITIVE_INFINITY })).toThrow(/heartbeatTimeout must be finite/)
    expect(create({ strategy: 'manual' })).toThrow(/strategy must not be 'manual'/)
    expect(create({ heartbeatTimeout: 1_000, heartbeatInterval: 900 })).toThrow(LeaseConfigurationError)
    expect(create({ name: '' })).toThrow(LeaseNameError)
  })

  it('names the ability that a store lacks', () => {
    const { store, options } = createPlace()
    const { limits } = store
    const having = (methods: object): LeaseStore => ({ kind: 'poor', limits, ...methods }) as unknown as LeaseStore
    expect(() => new PartitionGroup(having({ update() {} }), options)).toThrow(
      "the poor store cannot list leases, so the workers of 'group' cannot find each other: use a store with list(), such as redis or local",
    )
    expect(() => new PartitionGroup(having({ list() {} }), options)).toThrow(
      /needs metadata to share the partitions, and the poor store keeps none/,
    )
    const small = having({ list() {}, update() {}, limits: { ...limits, metadata: 0 } })
    expect(() => new PartitionGroup(small, options)).toThrow(
      /needs metadata to share the partitions, and the poor store keeps none/,
    )
  })

  it('has one owner for all leases of a worker', async () => {
    const { time, store, start } = createPlace()
    const group = start()
    await time.advance(3_000)
    const owners = new Set<string>()
    for await (const { owner } of listLeases(store, '', clockless)) owners.add(owner)
    expect(owners).toEqual(new Set([group.owner]))
    await stopped(time, group)
  })

  it('reports work that throws, and begins it again in the next round', async () => {
    const { time, start, logged } = createPlace()
    const tokens: bigint[] = []
    const group = start({
      partitions: 1,
      onAssigned: ({ fencingToken }) => {
        tokens.push(fencingToken)
        if (tokens.length < 3) throw new Error('not now')
      },
    })
    await time.advance(5_000)
    expect(tokens).toHaveLength(3)
    expect(group.assigned).toEqual([0])
    expect(logged.filter((line) => line.includes('the work on partition 0 failed'))).toHaveLength(2)
    await stopped(time, group)
  })

  it('does not report work that ends with the reason of its signal', async () => {
    const { time, start, logged } = createPlace()
    const reasons: unknown[] = []
    const group = start({
      onAssigned: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reasons.push(signal.reason)
            reject(signal.reason)
          })
        }),
    })
    await time.advance(3_000)
    await stopped(time, group)
    expect(reasons).toHaveLength(4)
    expect(reasons[0]).toMatchObject({ name: 'LeaseLostError', reason: 'released', leaseName: 'group/partitions/0' })
    expect(logged).toEqual([])
  })

  it('leaves work behind that does not end, reports it, and stops within its deadline', async () => {
    const { time, start, logged } = createPlace()
    const group = start({ partitions: 1, onAssigned: () => new Promise(() => {}) })
    await time.advance(3_000)
    const before = time.now
    await stopped(time, group)
    expect(time.now - before).toBeLessThanOrEqual(3_000 + 3 * 500)
    expect(logged).toEqual([
      "partition group 'group': the work on partition 0 of 'group' did not end within 3000 ms and is left behind",
    ])
  })

  it('stops within its deadline when the store gives no answer', async () => {
    const { time, clock, options } = createPlace()
    const memory = new MemoryLeaseStore({ clock })
    let isSilent = false
    const silent = new Proxy(memory, {
      get: (target, key) => {
        const value = Reflect.get(target, key)
        if (typeof value !== 'function') return value
        if (isSilent && key !== 'close') return () => new Promise(() => {})
        return value.bind(target)
      },
    })
    const group = new PartitionGroup(silent, options)
    group.start()
    await time.advance(3_000)
    expect(group.assigned).toEqual([0, 1, 2, 3])
    isSilent = true
    const before = time.now
    await stopped(time, group)
    expect(time.now - before).toBeLessThanOrEqual(3_000 + 3 * 500)
  })

  it('stops at once when it has not started, and does not start again', async () => {
    const { time, options, store, start } = createPlace()
    const idle = new PartitionGroup(store, options)
    await idle.stop()
    expect(() => idle.start()).toThrow(LeaseUnavailableError)
    const group = start()
    await stopped(time, group)
    expect(() => group.start()).toThrow(LeaseUnavailableError)
    await time.advance(5_000)
    expect(group.assigned).toEqual([])
    expect(await names(store, clockless)).not.toContain('group/partitions/0')
  })

  it('keeps no timer after it has stopped', async () => {
    const { time, clock, start } = createPlace()
    const groups = [start(), start()]
    await time.advance(4_000)
    await stopped(time, ...groups)
    await time.advance(TTL)
    expect(clock.pending).toBe(0)
  })

  it('uses the places of earlier members again', async () => {
    const { time, store, start } = createPlace()
    for (let turn = 0; turn < 5; turn += 1) {
      const groups = [start(), start()]
      await time.advance(3_000)
      await stopped(time, ...groups)
    }
    const members = (await names(store, clockless)).filter((name) => name.startsWith('group/members/'))
    expect(members.length).toBeLessThanOrEqual(3)
  })

  it('ignores records of members that it cannot read', async () => {
    const { time, store, clock, start } = createPlace()
    for (const [place, share] of [
      ['x', 'h4'],
      ['7', '???'],
    ] as const) {
      const lease = createLease(store, `group/members/${place}`, { clock, heartbeatTimeout: TTL })
      await lease.acquire({ metadata: { share } })
    }
    const group = start()
    await time.advance(3_000)
    // The member at place 7 has a share to come.
    expect(group.assigned).toHaveLength(2)
    await stopped(time, group)
  })

  describe('while two numbers of partitions are deployed', () => {
    const numbers = (groups: readonly PartitionGroup[]): number[] =>
      groups.flatMap(({ assigned }) => assigned).sort((one, other) => one - other)
    const upTo = (count: number): number[] => Array.from({ length: count }, (_, partition) => partition)

    for (const [title, older, newer] of [
      ['more', 4, 8],
      ['fewer', 8, 4],
    ] as const) {
      it(`has an owner for each partition that a running worker knows: ${title} partitions`, async () => {
        const { time, start } = createPlace()
        const old = [start({ partitions: older }), start({ partitions: older })]
        await time.advance(5_000)
        const all = [...old]
        for (let joined = 0; joined < 2; joined += 1) {
          all.push(start({ partitions: newer }))
          await time.advance(8_000)
          expect(numbers(all)).toEqual(upTo(8))
        }
        const counts = all.map(({ assigned }) => assigned.length)
        expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(2)
        for (const group of all) expect(Math.max(...group.assigned)).toBeLessThan(old.includes(group) ? older : newer)
        for (const leaving of old) {
          await stopped(time, leaving)
          all.shift()
          await time.advance(5_000)
          expect(numbers(all)).toEqual(upTo(all.length > 2 ? 8 : newer))
        }
        await stopped(time, ...all)
      })
    }

    it('reports each other number once, as an event and in the log', async () => {
      const { time, logged, start } = createPlace()
      const seen: [PartitionGroup, number][] = []
      const groups = [4, 4, 8].map((partitions) => {
        const group = start({ partitions })
        return group.on('differs', (number) => seen.push([group, number]))
      })
      await time.advance(20_000)
      const [one, two, three] = groups
      expect(seen).toHaveLength(3)
      expect(seen).toEqual(
        expect.arrayContaining([
          [one, 8],
          [two, 8],
          [three, 4],
        ]),
      )
      expect(logged).toHaveLength(3)
      expect(logged).toContain(
        "partition group 'group': this worker has 4 partitions, and another one has 8: only workers that have 8 own those from 4 on",
      )
      await stopped(time, ...groups)
    })

    it('takes over the partitions of a dead worker that knew others', async () => {
      const { time, store, clock, start } = createPlace()
      const dead = createLease(store, 'group/members/0', { clock, heartbeatTimeout: TTL, strategy: 'manual' })
      const acquired = dead.acquire({ metadata: { partitions: '2', share: 'h2' } })
      await time.advance(1)
      expect(await acquired).toBe(true)
      const group = start({ partitions: 4 })
      await time.advance(5_000)
      expect(group.assigned).toEqual([2, 3])
      await time.advance(TTL)
      expect(group.assigned).toEqual([0, 1, 2, 3])
      await stopped(time, group)
    })
  })

  it('rejects a position that the store refuses, and keeps the partition', async () => {
    const { time, start } = createPlace()
    const seen: AssignedPartition[] = []
    const group = start({ partitions: 1, onAssigned: (assigned) => void seen.push(assigned) })
    await time.advance(3_000)
    const [assigned] = seen
    await expect(assigned?.save('x'.repeat(5_000))).rejects.toThrow(LeaseConfigurationError)
    expect(assigned?.checkLease()).toBe(true)
    const saving = assigned?.save('7')
    await time.advance(100)
    expect(await saving).toBe(true)
    await stopped(time, group)
    expect(await assigned?.save('8')).toBe(false)
  })

  it('reports rounds that fail, and goes on', async () => {
    const { time, store, start, logged } = createPlace()
    const { list } = store
    store.list = () => {
      throw new Error('no listing today')
    }
    const group = start({
      logger: {
        debug() {},
        info() {},
        warn: (message) => {
          logged.push(message)
          if (logged.length === 1) throw new Error('the logger failed')
        },
        error() {},
      },
    })
    await time.advance(2_000)
    expect(logged).toHaveLength(1)
    expect(logged[0]).toContain("partition group 'group': a round failed, and is tried again")
    expect(logged[0]).toContain('no listing today')
    store.list = list
    await time.advance(3_000)
    expect(logged[1]).toBe("partition group 'group': the store has answered again")
    expect(group.assigned).toEqual([0, 1, 2, 3])
    await stopped(time, group)
  })
})

/** Options of a listing in a store whose time stands still. */
const clockless = { timeout: Number.POSITIVE_INFINITY }

async function names(store: LeaseStore, options: { timeout: number }): Promise<string[]> {
  const listed: string[] = []
  for await (const { name } of listLeases(store, '', options)) listed.push(name)
  return listed
}

async function stopped(time: VirtualTime, ...groups: readonly PartitionGroup[]): Promise<void> {
  let isOver = false
  void Promise.all(groups.map((group) => group.stop())).then(() => {
    isOver = true
  })
  expect(await time.advanceUntil(() => isOver, 20_000)).toBe(true)
}
