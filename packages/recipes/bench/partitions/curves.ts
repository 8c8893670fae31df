import { type Balancer, GroupModel } from './group-model.js'
import type { LineChart } from './line-chart.js'
import { type Change, changes, type Rebalancing, randomNumbers, rebalance, TTL_ROUNDS } from './rebalancings.js'

export const PARTITIONS = 10_000

const SIZES = [2, 3, 5, 10, 20, 30, 50, 70, 100, 130, 160, 200]

/** Each change in groups of each size. */
export function measureCurves(): readonly Rebalancing[] {
  const balancers: readonly Balancer[] = ['decentralised', 'assigner']
  return balancers.flatMap((balancer) =>
    changes.flatMap((change) => SIZES.map((workers) => rebalance(change, workers, balancer, PARTITIONS))),
  )
}

/** The state of a group after one round. */
export interface Moment {
  readonly round: number
  readonly workers: number
  readonly spread: number
  readonly withoutOwner: number
}

/** A group of up to 200 workers in which some join, leave, die or stall at random, every 15 rounds. */
export function churn(rounds: number, partitions: number, seed: number): { moments: Moment[]; model: GroupModel } {
  const random = randomNumbers(seed)
  const model = new GroupModel({ partitions, ttlRounds: TTL_ROUNDS, random })
  model.join(1)
  const moments: Moment[] = []
  for (let round = 1; round <= rounds; round += 1) {
    if (round % 15 === 0) changeAtRandom(model, random)
    model.step()
    moments.push({ round, workers: model.alive.length, spread: model.spread, withoutOwner: model.withoutOwner })
  }
  return { moments, model }
}

function changeAtRandom(model: GroupModel, random: () => number): void {
  const places = model.alive.map(({ place }) => place)
  const some = places.filter(() => random() < 0.1).slice(0, places.length - 1)
  const drawn = random()
  if (drawn < 0.55 || some.length === 0) model.join(Math.min(200 - places.length, Math.ceil(random() * 30)))
  else if (drawn < 0.7) model.end(some, 'leaving')
  else model.end(some, drawn < 0.85 ? 'dead' : 'stalled')
}

export function toCharts(results: readonly Rebalancing[], moments: readonly Moment[]): readonly LineChart[] {
  const own = results.filter(({ balancer }) => balancer === 'decentralised')
  const linesOf = (some: readonly Rebalancing[], value: (result: Rebalancing) => number) =>
    changes.map((change) => ({ label: change, points: pointsOf(some, change, value) }))
  const xLabel = 'workers after the change'
  const cost = (balancer: Balancer) =>
    pointsOf(
      results.filter((result) => result.balancer === balancer),
      'one joins',
      ({ records }) => records,
    )
  return [
    {
      title: `Rounds until the shares are fair (a ttl is ${TTL_ROUNDS} rounds)`,
      xLabel,
      lines: linesOf(own, ({ rounds }) => rounds),
      most: 16,
    },
    {
      title: 'Moves of partitions, divided by the least number possible',
      xLabel,
      lines: linesOf(own, ({ moves, leastMoves }) => (leastMoves === 0 ? 1 : moves / leastMoves)),
      most: 2,
    },
    {
      title: 'The longest time without an owner, in rounds',
      xLabel,
      lines: linesOf(own, ({ longestGap }) => longestGap),
      most: 16,
    },
    {
      title: 'Records read in a quiet round by all workers together',
      xLabel,
      isLogarithmic: true,
      lines: [
        { label: 'each decides (chosen)', points: cost('decentralised') },
        { label: 'an elected assigner', points: cost('assigner') },
        {
          label: 'each lists all partitions',
          points: SIZES.map((workers) => [workers, workers * PARTITIONS] as const),
        },
        { label: 'heartbeats of partitions', points: SIZES.map((workers) => [workers, PARTITIONS] as const) },
      ],
    },
    {
      title: 'Workers that join, leave, die and stall at random',
      xLabel: 'round',
      isLogarithmic: true,
      lines: [
        { label: 'workers', points: moments.map(({ round, workers }) => [round, workers] as const) },
        { label: 'largest − smallest share', points: moments.map(({ round, spread }) => [round, spread] as const) },
        { label: 'without an owner', points: moments.map(({ round, withoutOwner }) => [round, withoutOwner] as const) },
      ],
    },
  ]
}

function pointsOf(results: readonly Rebalancing[], change: Change, value: (result: Rebalancing) => number) {
  return results.filter((result) => result.change === change).map((result) => [result.workers, value(result)] as const)
}
