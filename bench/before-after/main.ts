/**
 * Compares two versions of the packages on one machine: `main.ts BEFORE AFTER`, two folders of the repository in which
 * `npm run build` has run. The processes of both versions take turns, A B B A, so that a disturbance affects both. The ratio
 * is the median of the ratios of the rounds. It is above 1 where the later version is better; its range shows the noise.
 */
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { Fleet } from '../holding/holder/fleet.js'
import type { StoreKind } from '../holding/holder/open-store.js'
import { withServer } from '../holding/servers/servers.js'
import { median } from '../support/statistics.js'
import { shown, table } from '../support/table.js'

const TIMES = { ttl: 30_000, interval: 9_000 }
const HELD = 10_000
const HAND_OVERS = 20

interface Figure {
  readonly name: string
  readonly store: StoreKind
  readonly isRate?: boolean
  /** How often it is measured with new processes, and how many rounds those have. */
  readonly repetitions: number
  readonly rounds: number
  /** What a process does before its first turn; `place` is 0 or 1. */
  prepare?(fleet: Fleet, place: number): Promise<void>
  measure(fleet: Fleet): Promise<number>
}

/** `rounds`: cycles of each lane in a turn. */
function cycles(store: StoreKind, lanes: number, rounds: number): Figure {
  const measure = async (fleet: Fleet): Promise<number> => {
    const start = performance.now()
    await fleet.all((holder) => holder.ask('cycles', rounds, lanes))
    return (lanes * rounds * 1_100) / (performance.now() - start)
  }
  return {
    name: `${store}: cycles a second, ${lanes} in flight`,
    store,
    isRate: true,
    repetitions: 3,
    rounds: 4,
    measure,
  }
}

function handOver(waiters: number): Figure {
  const measure = async (fleet: Fleet): Promise<number> =>
    median((await fleet.all((holder) => holder.ask('handOver', waiters, HAND_OVERS))).flat())
  return { name: `redis: hand-over, ${waiters} waiters, p50, ms`, store: 'redis', repetitions: 2, rounds: 3, measure }
}

const holding: Figure = {
  name: `redis: ${shown(HELD)} held leases, client CPU of a heartbeat, µs`,
  store: 'redis',
  repetitions: 1,
  rounds: 4,
  prepare: (fleet, place) => fleet.hold({ first: place * HELD, count: HELD }),
  measure: async (fleet) => {
    await fleet.all((holder) => holder.ask('begin'))
    await pause(TIMES.interval)
    const [figures] = await fleet.all((holder) => holder.ask('figures'))
    if (figures?.valid !== HELD) throw new Error(`${figures?.valid} of ${HELD} leases are held`)
    return (figures.cpu * 1_000) / HELD
  },
}

const all = [
  ...[cycles('redis', 1, 1_000), cycles('redis', 64, 100), cycles('redis', 512, 20), cycles('postgres', 64, 20)],
  ...[handOver(1), handOver(10), handOver(100), holding],
]

type Pair = readonly [before: number, after: number]

/** One pair of values for each round. */
async function compare(figure: Figure, folders: readonly string[]): Promise<readonly Pair[]> {
  const pairs: Pair[] = []
  for (let repetition = 0; repetition < figure.repetitions; repetition += 1) {
    await withServer(figure.store, async ({ address }) => {
      const task = { store: figure.store, address, ...TIMES }
      const [a, b] = await Promise.all(folders.map((folder) => Fleet.start(task, 1, folder)))
      if (a === undefined || b === undefined) throw new Error('two folders are needed')
      try {
        for (const [place, fleet] of [a, b].entries()) await figure.prepare?.(fleet, place)
        // The first round is not counted: it compiles the code.
        for (let round = 0; round <= figure.rounds; round += 1) {
          const [first, second] = [await figure.measure(a), await figure.measure(b)]
          const [third, fourth] = [await figure.measure(b), await figure.measure(a)]
          if (round > 0) pairs.push([(first + fourth) / 2, (second + third) / 2])
        }
      } finally {
        await a.stop()
        await b.stop()
      }
    })
  }
  return pairs
}

const folders = process.argv.slice(2).map((folder) => resolve(folder))
if (folders.length !== 2) throw new Error('two folders are needed: before and after')
const rows: string[][] = []
for (const figure of all) {
  const pairs = await compare(figure, folders)
  const ratios = pairs.map(([before, after]) => (figure.isRate === true ? after / before : before / after))
  const [before, after] = [median(pairs.map(([value]) => value)), median(pairs.map(([, value]) => value))]
  const range = `${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`
  rows.push([figure.name, shown(before), shown(after), median(ratios).toFixed(3), range])
  console.error(rows.at(-1)?.join(' | '))
}
console.log(table('figure | before | after | ratio | range', rows))
process.exit()
