/**
 * Rebalancing 10,000 partitions: in a model with up to 200 workers, and by two real workers on a store in memory. Prints
 * tables and fails if a bound is not kept. `--write` draws the curves for the guide.
 */
import { writeFileSync } from 'node:fs'
import { MemoryLeaseStore } from '@leasehold/core'
import { PartitionGroup } from '@leasehold/recipes'
import { churn, measureCurves, PARTITIONS, toCharts } from './partitions/curves.js'
import { toSvg } from './partitions/line-chart.js'
import { changes, TTL_ROUNDS } from './partitions/rebalancings.js'

const MOST_ROUNDS = 4
const LONGEST = 20_000

const format = (value: number): string => Math.round(value).toLocaleString('en')

function printModel(results: ReturnType<typeof measureCurves>): boolean {
  let isKept = true
  console.log(
    '| change, up to 200 workers | most rounds | bound | moves / least | longest without an owner, rounds | kept |',
  )
  console.log('|---|---|---|---|---|---|')
  for (const change of changes) {
    const own = results.filter((result) => result.change === change && result.balancer === 'decentralised')
    const rounds = Math.max(...own.map((result) => result.rounds))
    const bound = MOST_ROUNDS + (/dies|stalls/.test(change) ? TTL_ROUNDS : 0)
    const ratio = Math.max(...own.map(({ moves, leastMoves }) => (leastMoves === 0 ? 1 : moves / leastMoves)))
    const gap = Math.max(...own.map(({ longestGap }) => longestGap))
    const kept = rounds <= bound && ratio === 1 && own.every(({ mostMoves }) => mostMoves <= 1)
    isKept &&= kept
    console.log(`| ${change} | ${rounds} | ${bound} | ${ratio} | ${gap} | ${kept ? 'yes' : '**no**'} |`)
  }
  return isKept
}

/** Two real workers on one store: the second joins when the first owns all partitions. */
async function measureWorkers(): Promise<boolean> {
  const store = new MemoryLeaseStore()
  const options = { name: 'bench', partitions: PARTITIONS, rebalanceInterval: 100, onAssigned: () => {} }
  const [first, second] = [new PartitionGroup(store, options), new PartitionGroup(store, options)]
  const until = async (isOver: () => boolean): Promise<number> => {
    const start = performance.now()
    while (!isOver() && performance.now() - start < 3 * LONGEST) await new Promise((resolve) => setTimeout(resolve, 20))
    return performance.now() - start
  }
  first.start()
  const alone = await until(() => first.assigned.length === PARTITIONS)
  second.start()
  const shared = await until(
    () => second.assigned.length === PARTITIONS / 2 && first.assigned.length === PARTITIONS / 2,
  )
  const before = performance.now()
  await first.stop()
  const stopped = performance.now() - before
  const handedOver = await until(() => second.assigned.length === PARTITIONS)
  await second.stop()
  const isKept = shared <= LONGEST
  console.log(`
| two real workers, ${format(PARTITIONS)} partitions, a store in memory, rounds of 100 ms | measured | bound | kept |
|---|---|---|---|
| the first takes all | ${format(alone)} ms | | |
| the second joins, until both have half | ${format(shared)} ms | at most ${format(LONGEST)} ms | ${isKept ? 'yes' : '**no**'} |
| the first stops, until the second has all | ${format(stopped + handedOver)} ms | | |`)
  return isKept
}

const results = measureCurves()
const { moments } = churn(600, PARTITIONS, 1)
const isModelKept = printModel(results)
if (process.argv.includes('--write')) {
  const file = new URL('../../../docs/recipes/partitions.svg', import.meta.url)
  writeFileSync(file, toSvg('Rebalancing 10,000 partitions between 1 to 200 workers', toCharts(results, moments)))
}
process.exitCode = (await measureWorkers()) && isModelKept ? 0 : 1
