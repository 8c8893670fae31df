import { createLease, MemoryLeaseStore } from '@leasehold/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SelfFence } from '../../self-fence/src/self-fence.js'
import { AllOf, LeaderElection, PartitionGroup, ReadWriteLease, Semaphore } from '../src/index.js'

/** Milliseconds. A loss has to be acknowledged within 5 % of it, which no test comes near. */
const TTL = 200_000

/** Of each loss: whether the fence has been told of work, and whether that has ended. */
let acknowledged: { readonly hasWork: boolean; isOver: boolean }[]

beforeEach(() => {
  acknowledged = []
  const { acknowledge } = SelfFence.prototype
  vi.spyOn(SelfFence.prototype, 'acknowledge').mockImplementation(function (this: SelfFence, work) {
    const loss = { hasWork: work !== undefined, isOver: false }
    acknowledged.push(loss)
    void work?.then(() => {
      loss.isOver = true
    })
    acknowledge.call(this, work)
  })
})

afterEach(() => void vi.restoreAllMocks())

const options = { name: 'job', heartbeatTimeout: TTL, selfFence: 'kill' } as const

const fenced = { heartbeatTimeout: TTL, selfFence: 'kill' } as const

/** Work that ignores its signal, and goes on until the test ends it. */
function setUp() {
  let begin = (): void => {}
  let end = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const work = async (): Promise<void> => {
    begin()
    await ended
  }
  return { store: new MemoryLeaseStore(), work, begun, end: () => end() }
}

type Start = (store: MemoryLeaseStore, work: () => Promise<void>) => unknown

/** The ways to work under several leases, or one, that a recipe acquires. */
const ways: readonly (readonly [string, Start])[] = [
  [
    'LeaderElection',
    (store, onElected) => new LeaderElection(store, { ...options, keepAlive: false, onElected }).start(),
  ],
  [
    'PartitionGroup',
    (store, onAssigned) =>
      new PartitionGroup(store, {
        ...options,
        keepAlive: false,
        partitions: 1,
        rebalanceInterval: 10,
        onAssigned,
      }).start(),
  ],
  ['Semaphore.run', (store, work) => new Semaphore(store, { ...options, permits: 2 }).run(work)],
  ['shared.run', (store, work) => new ReadWriteLease(store, { ...options, readers: 2 }).shared.run(work)],
  ['exclusive.run', (store, work) => new ReadWriteLease(store, { ...options, readers: 2 }).exclusive.run(work)],
  ['AllOf.run', (store, work) => new AllOf(['a', 'b'].map((name) => createLease(store, name, fenced))).run(work)],
  [
    'AllOf.run, over a lease that was held before',
    async (store, work) => {
      const [a, b] = ['a', 'b'].map((name) => createLease(store, name, fenced))
      if (a === undefined || b === undefined) return
      await a.acquire()
      await new AllOf([a, b]).run(work)
    },
  ],
]

describe('a self-fence', () => {
  it.for(ways)('waits for the work of %s, which it ends if it goes on', async ([, start]) => {
    const { store, work, begun, end } = setUp()
    const started = Promise.resolve(start(store, work)).catch(() => {})
    await begun
    await store.close()
    await vi.waitUntil(() => acknowledged.some(({ hasWork }) => hasWork))
    await new Promise((resolve) => setImmediate(resolve))
    const waiting = acknowledged.filter(({ hasWork }) => hasWork)
    expect(waiting.map(({ isOver }) => isOver)).toEqual(waiting.map(() => false))
    end()
    await vi.waitUntil(() => waiting.every(({ isOver }) => isOver))
    await started
  })

  it('of each part of AllOf waits for the work', async () => {
    const { store, work, begun, end } = setUp()
    const run = new AllOf(['a', 'b'].map((name) => createLease(store, name, fenced))).run(work)
    const ran = run.catch((error: unknown) => error)
    await begun
    await store.close()
    await ran
    await vi.waitUntil(() => acknowledged.length === 2)
    expect(acknowledged).toEqual([
      { hasWork: true, isOver: false },
      { hasWork: true, isOver: false },
    ])
    end()
    await vi.waitUntil(() => acknowledged.every(({ isOver }) => isOver))
  })
})
