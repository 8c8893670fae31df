import assert from 'node:assert/strict'
import { breakLease } from '@leasehold/core'
import { PendingWork } from '../../../testkit/src/laws/pending-work.js'
import { type RecipeLaw, type RecipePlace, type RecipeTrial, recipeLawsWith } from './recipe-trial.js'

/** A partition that a worker owns, as the laws use it. */
interface AssignedPartitionUnderTest {
  readonly partition: number
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
  readonly stopTimeout: number
  readonly rebalanceInterval: number
  readonly onAssigned: (assigned: AssignedPartitionUnderTest) => unknown
}

type Trial = RecipeTrial<PartitionGroupUnderTest, PartitionGroupLawOptions>

/** The work of a worker: `begin` is done with a new partition, and `drain` when it is asked to end. */
interface Work {
  readonly begin?: (seen: AssignedPartitionUnderTest) => unknown
  readonly drain?: (seen: AssignedPartitionUnderTest) => unknown
}

/** A worker whose assignments are recorded. */
interface Worker {
  readonly group: PartitionGroupUnderTest
  readonly place: RecipePlace
  readonly seen: readonly AssignedPartitionUnderTest[]
}

async function start(trial: Trial, partitions: number, { begin, drain }: Work = {}): Promise<Worker> {
  const place = await trial.place()
  const seen: AssignedPartitionUnderTest[] = []
  const onAssigned = async (one: AssignedPartitionUnderTest): Promise<void> => {
    seen.push(one)
    await begin?.(one)
    await aborted(one.signal)
    await drain?.(one)
  }
  const group = await trial.create(
    { partitions, stopTimeout: trial.ttl / 2, rebalanceInterval: trial.ttl / 20, onAssigned },
    place,
  )
  trial.atEnd(() => group.stop())
  group.start()
  return { group, place, seen }
}

/** Workers that start together, when the shares are fair. */
async function startTogether<const Works extends readonly Work[]>(
  trial: Trial,
  partitions: number,
  ...works: Works
): Promise<{ readonly [Place in keyof Works]: Worker }> {
  const workers: Worker[] = []
  for (const work of works) workers.push(await start(trial, partitions, work))
  await untilFair(trial, partitions, workers)
  return workers as { [Place in keyof Works]: Worker }
}

/** A worker that had all partitions, and a newcomer, when the shares are fair. */
async function startInTurn(trial: Trial, partitions: number, work: Work = {}): Promise<readonly [Worker, Worker]> {
  const [first] = await startTogether(trial, partitions, work)
  const second = await start(trial, partitions)
  await untilFair(trial, partitions, [first, second])
  return [first, second]
}

/** The partitions with which each worker may work now. */
function sharesOf(workers: readonly Worker[]): number[][] {
  return workers.map(({ seen }) => {
    const owned = seen.filter((assigned) => assigned.checkLease() && !assigned.signal.aborted)
    return owned.map(({ partition }) => partition).sort((one, other) => one - other)
  })
}

/** Lets time pass until each partition has an owner and the shares differ by at most 1. Checks that none has two owners. */
async function untilFair(trial: Trial, partitions: number, workers: readonly Worker[]): Promise<void> {
  await trial.until('every partition has an owner, in fair shares', () => {
    const owned = workers.flatMap(({ seen }) => seen.filter((one) => one.checkLease()))
    const numbers = owned.map(({ partition }) => partition)
    assert.equal(new Set(numbers).size, numbers.length, 'a partition has two owners')
    const counts = sharesOf(workers).map(({ length }) => length)
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
      const workers = await startTogether(trial, 7, {}, {}, {})
      const assigned = (): number => workers.flatMap(({ seen }) => seen).length
      const before = { shares: sharesOf(workers), assigned: assigned() }
      await trial.pass(trial.ttl)
      assert.deepEqual({ shares: sharesOf(workers), assigned: assigned() }, before)
      // In real time, the first may have taken partitions before the others had joined: then some have to move.
      if (trial.time.isVirtual) assert.equal(before.assigned, 7, 'a partition moved in vain')
    },

    'a newcomer gets its share, with as few moves as possible': async (trial) => {
      const [first, second] = await startInTurn(trial, 6)
      assert.equal(second.seen.length, 3)
      assert.equal(first.seen.length, 6, 'the first worker lost a partition and took it again')
    },

    'nothing moves while the shares differ by one': async (trial) => {
      const workers = await startTogether(trial, 3, {}, {})
      const before = sharesOf(workers)
      await trial.pass(2 * trial.ttl)
      assert.deepEqual(sharesOf(workers), before)
    },

    'an owner that hands over may save until its work has ended, and the next owner finds the position': async (
      trial,
    ) => {
      const saved: boolean[] = []
      const drain = async ({ save, partition }: AssignedPartitionUnderTest): Promise<void> => {
        saved.push(await save(`end of ${partition}`))
      }
      const [, second] = await startInTurn(trial, 4, { drain })
      assert.deepEqual(saved, [true, true])
      for (const { position, partition } of second.seen) assert.equal(position, `end of ${partition}`)
    },

    'the next owner of a partition has a larger fencing token': async (trial) => {
      const [first, second] = await startInTurn(trial, 2)
      for (const { partition, fencingToken } of second.seen) {
        const earlier = first.seen.find((one) => one.partition === partition)
        assert(earlier !== undefined && fencingToken > earlier.fencingToken)
      }
    },

    'the lease is held until the work has ended': async (trial) => {
      const drain = new PendingWork<AssignedPartitionUnderTest>()
      const [first] = await startTogether(trial, 2, { drain: drain.run })
      const second = await start(trial, 2)
      const { held: draining, end } = await trial.during(drain.begun)
      await trial.pass(trial.ttl / 5)
      assert.equal(draining.checkLease(), true, 'released before the work had ended')
      assert.equal(second.seen.length, 0)
      end()
      await untilFair(trial, 2, [first, second])
      assert.equal(draining.checkLease(), false)
    },

    'work that does not end is left behind after stopTimeout': async (trial) => {
      const [first] = await startInTurn(trial, 2, { drain: () => new Promise(() => {}) })
      const left = first.seen.find(({ signal }) => signal.aborted)
      assert.equal(left?.checkLease(), false)
      assert.equal(await trial.during((left as AssignedPartitionUnderTest).save('too late')), false)
    },

    'a worker that stops hands everything over at once, with its positions': async (trial) => {
      const drain = ({ save }: AssignedPartitionUnderTest): unknown => save('left')
      const [first, second] = await startTogether(trial, 4, { drain }, { drain })
      const [handedOver = []] = sharesOf([first])
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
      const begin = async ({ partition, save, position }: AssignedPartitionUnderTest): Promise<void> => {
        if (partition !== 1 || position === 'failed') return
        await save('failed')
        failures += 1
        throw new Error('the work failed')
      }
      const worker = await start(trial, 2, { begin })
      await trial.until('the work is begun again', () => worker.seen.some(({ position }) => position === 'failed'))
      await untilFair(trial, 2, [worker])
      assert.equal(failures, 1)
      assert.equal(worker.seen.length, 3)
    },
  }),

  ...lawsOf(['list', 'metadata', 'clients'], {
    'the partitions of a worker that died are taken over, with the last position that it saved': async (trial) => {
      const begin = ({ save }: AssignedPartitionUnderTest): unknown => save('before it died')
      const [first, second] = await startTogether(trial, 4, { begin }, {})
      const [lost = []] = sharesOf([first])
      first.place.cutOff()
      await untilFair(trial, 4, [second])
      for (const partition of lost) {
        assert.equal(second.seen.find((one) => one.partition === partition)?.position, 'before it died')
      }
      assert(first.seen.every(({ signal }) => signal.aborted))
    },

    'a worker that was cut off loses its partitions, and gets a share again afterwards': async (trial) => {
      const [first, second] = await startTogether(trial, 4, {}, {})
      first.place.cutOff()
      await untilFair(trial, 4, [second])
      first.place.heal()
      await untilFair(trial, 4, [first, second])
    },
  }),

  ...lawsOf(['list', 'metadata', 'break'], {
    'a partition whose lease is broken is lost by its owner, and assigned again': async (trial) => {
      const [worker] = await startTogether(trial, 2, {})
      await trial.during(breakLease(worker.place.store, `${trial.name}/partitions/1`, { period: 0 }))
      await trial.until('it is lost', () => worker.seen.some(({ signal }) => signal.aborted))
      await untilFair(trial, 2, [worker])
      assert.equal(worker.seen.length, 3)
    },

    'a worker whose place in the group is broken keeps its partitions': async (trial) => {
      const workers = await startTogether(trial, 4, {}, {})
      await trial.during(breakLease(workers[0].place.store, `${trial.name}/members/0`, { period: 0 }))
      await trial.pass(trial.ttl)
      await untilFair(trial, 4, workers)
      assert.equal(workers.flatMap(({ seen }) => seen).length, 4)
    },
  }),
]
