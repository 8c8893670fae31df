import { type Balancer, GroupModel } from './group-model.js'

/** A change of the group that has to be balanced out. */
export type Change = 'cold start' | 'one joins' | 'group doubles' | 'a tenth leaves' | 'a tenth dies' | 'a tenth stalls'

export const changes: readonly Change[] = [
  'cold start',
  'one joins',
  'group doubles',
  'a tenth leaves',
  'a tenth dies',
  'a tenth stalls',
]

/** The rounds until the leases of a dead worker have expired: of the default settings. */
export const TTL_ROUNDS = 10

/** How a group of `workers` balanced a change out. */
export interface Rebalancing {
  readonly change: Change
  readonly balancer: Balancer
  /** After the change. */
  readonly workers: number
  /** From the change on, until the shares differ by at most 1 and each partition has an owner; `Infinity`: not within 200. */
  readonly rounds: number
  readonly moves: number
  readonly leastMoves: number
  /** Of a single partition. */
  readonly mostMoves: number
  /** The longest time that a partition had no owner, in rounds. */
  readonly longestGap: number
  readonly overlaps: number
  /** Of a round in which nothing changes: over all workers. */
  readonly calls: number
  readonly records: number
  readonly bytes: number
}

/** Random numbers that are the same in each run (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Lets a group with `workers` workers after the change balance it out. */
export function rebalance(change: Change, workers: number, balancer: Balancer, partitions: number): Rebalancing {
  const model = new GroupModel({ partitions, balancer, ttlRounds: TTL_ROUNDS, random: randomNumbers(workers) })
  const tenth = Math.ceil(workers / 10)
  const before = { 'cold start': 0, 'one joins': workers - 1, 'group doubles': Math.ceil(workers / 2) }[
    change as string
  ]
  const removed = change === 'a tenth leaves' || change === 'a tenth dies' ? tenth : 0
  model.join(before ?? workers + removed)
  settle(model)
  model.resetCounts()
  const leastMoves = carryOut(model, change, workers, tenth)
  const rounds = settle(model)
  const moved = [...model.moves.values()]
  const { longestGap, overlaps } = model
  // The costs of a quiet round.
  model.step()
  return {
    change,
    balancer,
    workers,
    rounds,
    moves: moved.reduce((sum, count) => sum + count, 0),
    leastMoves,
    mostMoves: Math.max(0, ...moved),
    longestGap,
    overlaps,
    ...model.cost,
  }
}

/** Changes the group; returns the least number of moves that lead to fair shares. */
function carryOut(model: GroupModel, change: Change, workers: number, tenth: number): number {
  const counts = new Map(model.alive.map(({ place, held }) => [place, held.size]))
  // The assigner is among those that go.
  const going = [model.leader, ...counts.keys()].filter(
    (place, at, all) => counts.has(place) && all.indexOf(place) === at,
  )
  const ended = change.startsWith('a tenth') ? going.slice(0, tenth) : []
  if (change === 'a tenth leaves') model.end(ended, 'leaving')
  else if (change === 'a tenth dies') model.end(ended, 'dead')
  else if (change === 'a tenth stalls') model.end(ended, 'stalled')
  else model.join(workers - counts.size)
  const orphaned = ended.reduce((sum, place) => sum + (counts.get(place) ?? 0), 0)
  const staying = [...counts].filter(([place]) => !ended.includes(place)).map(([, count]) => count)
  const base = Math.floor(model.partitions / workers)
  const extra = model.partitions % workers
  const excess = staying
    .sort((one, other) => other - one)
    .reduce((sum, count, rank) => sum + Math.max(0, count - base - (rank < extra ? 1 : 0)), 0)
  return orphaned + excess
}

/** Runs rounds until the group is balanced; returns how many. */
function settle(model: GroupModel): number {
  for (let rounds = 1; rounds <= 200; rounds += 1) {
    model.step()
    const isComplete = [...model.workers.values()].every(({ state }) => state === 'alive')
    if (isComplete && model.alive.length > 0 && model.isBalanced) return rounds
  }
  return Number.POSITIVE_INFINITY
}
