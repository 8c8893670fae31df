import assert from 'node:assert/strict'
import { breakLease } from '@leasehold/core'
import { type RecipeLaw, type RecipePlace, type RecipeTrial, recipeLawsWith } from '../recipe-trial.js'

/** A partition that a worker owns, as the laws use it. */
export interface AssignedPartitionUnderTest {
  readonly signal: AbortSignal
  readonly fencingToken: bigint
  readonly position: string | undefined
  save(position: string): Promise<boolean>
  checkLease(): boolean
}

/** One worker of a group that shares partitions, as the laws use it. */
export interface PartitionGroupUnderTest {
  readonly assigned: readonly number[]
  start(): void
  stop(): Promise<void>
}

/** The options with which the laws create a worker. */
export interface PartitionGroupLawOptions {
  readonly partitions: number
  readonly drainTimeout: number
  readonly rebalanceInterval: number
  readonly onAssigned: (partition: number, assigned: AssignedPartitionUnderTest) => unknown
}

type Trial = RecipeTrial<PartitionGroupUnderTest, PartitionGroupLawOptions>

/** One assignment that a worker has seen. */
interface Seen extends AssignedPartitionUnderTest {
  readonly partition: number
}

/** A worker whose assignments are recorded. */
class Worker {
  readonly group: PartitionGroupUnderTest
  readonly place: RecipePlace
  readonly seen: Seen[] = []

  private constructor(group: PartitionGroupUnderTest, place: RecipePlace, seen: Seen[]) {
    this.group = group
    this.place = place
    this.seen = seen
  }

  /** `drain`: what the work does when it is asked to end. */
  static async start(
    trial: Trial,
    partitions: number,
    drain: (seen: Seen) => unknown = () => {},
    work: (seen: Seen) => unknown = () => {},
  ): Promise<Worker> {
    const place = await trial.place()
    const seen: Seen[] = []
    const onAssigned = async (partition: number, assigned: AssignedPartitionUnderTest): Promise<void> => {
      const one = { ...assigned, partition }
      seen.push(one)
      await work(one)
      await aborted(one.signal)
      await drain(one)
    }
    const group = await trial.create(
      { partitions, drainTimeout: trial.ttl / 2, rebalanceInterval: trial.ttl / 20, onAssigned },
      place,
    )
    trial.atEnd(() => group.stop())
    group.start()
    return new Worker(group, place, seen)
  }

  /** The assignments under which it may work now. */
  get owned(): readonly Seen[] {
    return this.seen.filter((assigned) => assigned.checkLease() && !assigned.signal.aborted)
  }

  get numbers(): readonly number[] {
    return this.owned.map(({ partition }) => partition).sort((one, other) => one - other)
  }
}

/** Lets time pass until each partition has an owner and the shares differ by at most 1. Checks that none has two owners. */
async function untilFair(trial: Trial, partitions: number, workers: readonly Worker[]): Promise<void> {
  await trial.until('every partition has an owner, in fair shares', () => {
    const owned = workers.flatMap(({ seen }) => seen.filter((one) => one.checkLease()))
    const numbers = owned.map(({ partition }) => partition)
    assert.equal(new Set(numbers).size, numbers.length, 'a partition has two owners')
    const counts = workers.map((worker) => worker.owned.length)
    const isFair = Math.max(...counts) - Math.min(...counts) <= 1
    return isFair && counts.reduce((sum, count) => sum + count) === partitions
  })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

const lawsOf = recipeLawsWith(async (_: Trial) => [])

/** The rules of groups that share partitions. */
export const partitionGroupLaws: readonly RecipeLaw<PartitionGroupUnderTest, PartitionGroupLawOptions>[] = [
  ...lawsOf(['list', 'metadata'], {
    'workers that start together share the partitions fairly, and nothing moves afterwards': async (trial) => {
      const workers = [await Worker.start(trial, 7), await Worker.start(trial, 7), await Worker.start(trial, 7)]
      await untilFair(trial, 7, workers)
      const before = workers.map(({ numbers }) => numbers)
      await trial.pass(trial.ttl)
      assert.deepEqual(
        workers.map(({ numbers }) => numbers),
        before,
      )
      assert.equal(
        workers.reduce((sum, { seen }) => sum + seen.length, 0),
        7,
        'a partition moved in vain',
      )
    },

    'a newcomer gets its share, with as few moves as possible': async (trial) => {
      const first = await Worker.start(trial, 6)
      await untilFair(trial, 6, [first])
      const second = await Worker.start(trial, 6)
      await untilFair(trial, 6, [first, second])
      assert.equal(second.seen.length, 3)
      assert.equal(first.seen.length, 6, 'the first worker lost a partition and took it again')
    },

    'nothing moves while the shares differ by one': async (trial) => {
      const workers = [await Worker.start(trial, 3), await Worker.start(trial, 3)]
      await untilFair(trial, 3, workers)
      const before = workers.map(({ numbers }) => numbers)
      await trial.pass(2 * trial.ttl)
      assert.deepEqual(
        workers.map(({ numbers }) => numbers),
        before,
      )
    },

    'an owner that hands over may save until its work has ended, and the next owner finds the position': async (
      trial,
    ) => {
      const saved: boolean[] = []
      const drain = async ({ save, partition }: Seen): Promise<void> => {
        saved.push(await save(`end of ${partition}`))
      }
      const first = await Worker.start(trial, 4, drain)
      await untilFair(trial, 4, [first])
      const second = await Worker.start(trial, 4)
      await untilFair(trial, 4, [first, second])
      assert.deepEqual(saved, [true, true])
      for (const { position, partition } of second.seen) assert.equal(position, `end of ${partition}`)
    },

    'the next owner of a partition has a larger fencing token': async (trial) => {
      const first = await Worker.start(trial, 2)
      await untilFair(trial, 2, [first])
      const second = await Worker.start(trial, 2)
      await untilFair(trial, 2, [first, second])
      for (const { partition, fencingToken } of second.seen) {
        const earlier = first.seen.find((one) => one.partition === partition)
        assert(earlier !== undefined && fencingToken > earlier.fencingToken)
      }
    },

    'the lease is held until the work has ended': async (trial) => {
      let end = (): void => {}
      const ended = new Promise<void>((resolve) => {
        end = resolve
      })
      const first = await Worker.start(trial, 2, () => ended)
      await untilFair(trial, 2, [first])
      const second = await Worker.start(trial, 2)
      await trial.until('one is to be handed over', () => first.seen.some(({ signal }) => signal.aborted))
      await trial.pass(trial.ttl / 5)
      const draining = first.seen.find(({ signal }) => signal.aborted)
      assert.equal(draining?.checkLease(), true, 'released before the work had ended')
      assert.equal(second.seen.length, 0)
      end()
      await untilFair(trial, 2, [first, second])
      assert.equal(draining?.checkLease(), false)
    },

    'work that does not end is left behind after drainTimeout': async (trial) => {
      const first = await Worker.start(trial, 2, () => new Promise(() => {}))
      await untilFair(trial, 2, [first])
      const second = await Worker.start(trial, 2)
      await untilFair(trial, 2, [first, second])
      const left = first.seen.find(({ signal }) => signal.aborted)
      assert.equal(left?.checkLease(), false)
      assert.equal(await trial.during((left as Seen).save('too late')), false)
    },

    'a worker that stops hands everything over at once, with its positions': async (trial) => {
      const workers = [
        await Worker.start(trial, 4, ({ save }) => save('left')),
        await Worker.start(trial, 4, ({ save }) => save('left')),
      ]
      await untilFair(trial, 4, workers)
      const [first, second] = workers as [Worker, Worker]
      const handedOver = first.numbers
      await trial.during(first.group.stop())
      assert.deepEqual(first.group.assigned, [])
      await untilFair(trial, 4, [second])
      assert.equal(second.seen.length, 4, 'a partition of the worker that stayed moved')
      for (const partition of handedOver) {
        assert.equal(second.seen.find((one) => one.partition === partition)?.position, 'left')
      }
    },

    'work that fails is begun again, from the last position': async (trial) => {
      let failures = 0
      const worker = await Worker.start(
        trial,
        2,
        () => {},
        async ({ partition, save, position }) => {
          if (partition !== 1 || position === 'failed') return
          await save('failed')
          failures += 1
          throw new Error('the work failed')
        },
      )
      await trial.until('the work is begun again', () => worker.seen.some(({ position }) => position === 'failed'))
      await untilFair(trial, 2, [worker])
      assert.equal(failures, 1)
      assert.equal(worker.seen.length, 3)
    },
  }),

  ...lawsOf(['list', 'metadata', 'clients'], {
    'the partitions of a worker that died are taken over, with the last position that it saved': async (trial) => {
      const first = await Worker.start(
        trial,
        4,
        () => {},
        ({ save }) => save('before it died'),
      )
      const second = await Worker.start(trial, 4)
      await untilFair(trial, 4, [first, second])
      const lost = first.numbers
      first.place.cutOff()
      await untilFair(trial, 4, [second])
      for (const partition of lost) {
        assert.equal(second.seen.find((one) => one.partition === partition)?.position, 'before it died')
      }
      assert(first.seen.every(({ signal }) => signal.aborted))
    },

    'a worker that was cut off loses its partitions, and gets a share again afterwards': async (trial) => {
      const first = await Worker.start(trial, 4)
      const second = await Worker.start(trial, 4)
      await untilFair(trial, 4, [first, second])
      first.place.cutOff()
      await untilFair(trial, 4, [second])
      first.place.heal()
      await untilFair(trial, 4, [first, second])
    },
  }),

  ...lawsOf(['list', 'metadata', 'break'], {
    'a partition whose lease is broken is lost by its owner, and assigned again': async (trial) => {
      const worker = await Worker.start(trial, 2)
      await untilFair(trial, 2, [worker])
      const { clock } = worker.place.leaseOptions
      const options = { period: 0, timeout: trial.ttl, ...(clock === undefined ? {} : { clock }) }
      await trial.during(breakLease(worker.place.store, `${trial.name}/partitions/1`, options))
      await trial.until('it is lost', () => worker.seen.some(({ signal }) => signal.aborted))
      await untilFair(trial, 2, [worker])
      assert.equal(worker.seen.length, 3)
    },

    'a worker whose place in the group is broken keeps its partitions': async (trial) => {
      const workers = [await Worker.start(trial, 4), await Worker.start(trial, 4)]
      await untilFair(trial, 4, workers)
      const [first] = workers as [Worker, Worker]
      const { clock } = first.place.leaseOptions
      const options = { period: 0, timeout: trial.ttl, ...(clock === undefined ? {} : { clock }) }
      await trial.during(breakLease(first.place.store, `${trial.name}/members/0`, options))
      await trial.pass(trial.ttl)
      await untilFair(trial, 4, workers)
      assert.equal(
        workers.reduce((sum, { seen }) => sum + seen.length, 0),
        4,
      )
    },
  }),
]
