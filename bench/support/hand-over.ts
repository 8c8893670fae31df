import { setTimeout as pause } from 'node:timers/promises'
import { inversions, median, percentile } from './statistics.js'
import { shown } from './table.js'

/** For how long each holds before it releases, in milliseconds. */
export const WORK = 5
/** Of all rounds of one queue together, in milliseconds. */
const TIME_LIMIT = 60_000

/** How many wait, and how often that is done. */
export interface Queue {
  readonly waiters: number
  readonly rounds: number
}

export const queues: readonly Queue[] = [
  { waiters: 1, rounds: 20 },
  { waiters: 10, rounds: 8 },
  { waiters: 100, rounds: 3 },
  { waiters: 1_000, rounds: 1 },
]

export interface HandOvers {
  /** From the call of a release to the next grant, in milliseconds. */
  readonly latencies: readonly number[]
  readonly inversions: number
  readonly served: number
  readonly asked: number
  /** What the counters counted from the first release to the last grant. */
  readonly counted: readonly number[]
}

/** How a contender waits, and how its work is counted. */
export interface Waiting {
  /** Of the names. */
  readonly prefix: string
  /** Holds a name, and resolves with its release. `place` is that of the waiter in the queue. */
  hold(name: string, place: number): Promise<() => Promise<unknown>>
  /** Lets a waiter begin, and resolves when it has its place in the queue. */
  arrive(begin: () => void): Promise<void>
  /** Called when all wait. */
  allWait(): Promise<void> | void
  count(): Promise<readonly number[]>
  /** Whether the last holder releases before the counters are read again. */
  readonly countsLastRelease: boolean
}

export async function measureHandOvers(waiting: Waiting, { waiters, rounds }: Queue): Promise<HandOvers> {
  // Work that is done once (connections, scripts, subscriptions) is not counted.
  const warmUp = await serveAll(waiting, `${waiting.prefix}-${waiters}-warm-up`, Math.min(waiters, 8), TIME_LIMIT)
  if (!warmUp.isServed) throw new Error(`the first waiters were not served within ${TIME_LIMIT} ms`)
  const end = performance.now() + TIME_LIMIT
  const sum = { latencies: [] as number[], inversions: 0, served: 0, asked: 0, counted: [] as number[] }
  for (let round = 0; round < rounds && sum.served === sum.asked; round += 1) {
    const limit = Math.max(end - performance.now(), 0)
    const { latencies, order, counted } = await serveAll(
      waiting,
      `${waiting.prefix}-${waiters}-${round}`,
      waiters,
      limit,
    )
    sum.latencies.push(...latencies)
    sum.inversions += inversions(order)
    sum.served += order.length
    sum.asked += waiters
    sum.counted = counted.map((count, place) => count + (sum.counted[place] ?? 0))
  }
  return sum
}

/** One holds, the others come one after the other, and each holds in its turn. */
async function serveAll(waiting: Waiting, name: string, waiters: number, limit: number) {
  const [latencies, order]: [number[], number[]] = [[], []]
  let releasedAt = Number.NaN
  let finish = (): void => {}
  const finished = new Promise<void>((resolve) => {
    finish = resolve
  })
  const turn = async (index: number): Promise<void> => {
    const release = await waiting.hold(name, index + 1)
    latencies.push(performance.now() - releasedAt)
    order.push(index)
    if (order.length === waiters) finish()
    await pause(WORK)
    releasedAt = performance.now()
    await release()
  }
  const release = await waiting.hold(name, 0)
  const turns: Promise<void>[] = []
  for (let index = 0; index < waiters; index += 1) await waiting.arrive(() => turns.push(turn(index)))
  await waiting.allWait()
  const before = await waiting.count()
  releasedAt = performance.now()
  await release()
  const all = Promise.all(turns)
  await Promise.race([waiting.countsLastRelease ? all : finished, pause(limit)])
  const counted = (await waiting.count()).map((count, place) => count - (before[place] ?? 0))
  const isServed = order.length === waiters
  const result = { latencies: [...latencies], order: [...order], counted, isServed }
  if (isServed) await all
  else all.catch(() => {})
  return result
}

export function titleOf({ waiters, rounds }: Queue): string {
  const [people, times] = [waiters === 1 ? 'waiter' : 'waiters', rounds === 1 ? 'round' : 'rounds']
  return `### ${shown(waiters)} ${people}, ${rounds} ${times}`
}

/** The 50th and the 99th percentile, what was counted for each hand-over, inversions, and how many were served. */
export function cellsOf({ latencies, counted, inversions: wrong, served, asked }: HandOvers): readonly string[] {
  return [
    ...[median(latencies), percentile(latencies, 0.99), ...counted.map((count) => count / served), wrong].map(shown),
    served === asked ? 'all' : `${shown(served)} of ${shown(asked)} in ${TIME_LIMIT / 1_000} s`,
  ]
}

/** The faults of ours: a median that is too long, waiters that were overtaken, or not served. */
export function faultsOf(where: string, result: HandOvers, longestMedian: number): readonly string[] {
  const { latencies, inversions: wrong, served, asked } = result
  const p50 = median(latencies)
  return [
    ...(p50 < longestMedian ? [] : [`${where}: p50 ${shown(p50)} ms, not below ${longestMedian} ms`]),
    ...(wrong > 0 ? [`${where}: ${wrong} inversions`] : []),
    ...(served < asked ? [`${where}: ${served} of ${asked} served`] : []),
  ]
}
