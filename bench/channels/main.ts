/**
 * Measures the cost of the diagnostics channels. Bundles of the same sources take turns in this process, A B B A, so that a
 * disturbance affects both: one as it is, one in which every question whether anyone listens is answered by `false` when it
 * is built, so that the code of the channels is not there, and that one once more. The ratio of the last two shows what this
 * machine can tell apart. A ratio is the median of the ratios of the rounds, with its interval of 95 %.
 */
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import type * as core from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { build } from 'esbuild'
import { processorTime } from '../support/processor-time.js'
import { median } from '../support/statistics.js'
import { table } from '../support/table.js'

type Core = Pick<typeof core, 'createLease' | 'MemoryLeaseStore'>

const CHANNELS = ['acquired', 'renewed', 'jeopardy', 'recovered', 'lost', 'released', 'waiting', 'stall'] as const
const TRACED = ['acquire', 'run', 'store'] as const

/** At most this part slower, without a subscriber. */
const GOAL = 0.01

/** The question whether anyone listens, before a message is made. */
const IS_ON = /\b(?:publishers|tracers)\.\w+\.isOn\b/g

const sources = fileURLToPath(new URL('../../packages/core/src/', import.meta.url))

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '31' },
    cycles: { type: 'string', default: '50000' },
    leases: { type: 'string', default: '100000' },
  },
})
const [rounds, cycles, held] = [values.rounds, values.cycles, values.leases].map(Number) as [number, number, number]

interface Variant {
  readonly name: string
  readonly core: Core
  readonly hasSubscribers: boolean
}

/** Measures one round, in milliseconds. */
type Round = () => Promise<number>

const ignore = (): void => {}
const handlers = { start: ignore, end: ignore, asyncStart: ignore, asyncEnd: ignore, error: ignore }

function listen(): void {
  for (const name of CHANNELS) subscribe(`leasehold:${name}`, ignore)
  for (const name of TRACED) tracingChannel(`leasehold:${name}`).subscribe(handlers)
}

function unlisten(): void {
  for (const name of CHANNELS) unsubscribe(`leasehold:${name}`, ignore)
  for (const name of TRACED) tracingChannel(`leasehold:${name}`).unsubscribe(handlers)
}

async function measured({ hasSubscribers }: Variant, round: Round): Promise<number> {
  if (hasSubscribers) listen()
  try {
    return await round()
  } finally {
    if (hasSubscribers) unlisten()
  }
}

/** Acquire and release in memory, one after the other. */
async function holdsInMemory({ createLease, MemoryLeaseStore }: Core): Promise<Round> {
  const lease = createLease(new MemoryLeaseStore(), 'bench')
  return async () => {
    const start = performance.now()
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      await lease.acquire()
      await lease.release()
    }
    return performance.now() - start
  }
}

/** The processor time of a heartbeat of each held lease, in virtual time. */
async function heartbeats({ createLease, MemoryLeaseStore }: Core): Promise<Round> {
  const clock = new VirtualClock()
  const store = new MemoryLeaseStore({ clock })
  const times = { heartbeatTimeout: 30_000, heartbeatInterval: 9_000, operationTimeout: 2_000 }
  const leases = Array.from({ length: held }, (_, place) => createLease(store, `bench-${place}`, { clock, ...times }))
  for (const lease of leases) await lease.acquire()
  return async () => {
    const start = processorTime()
    await clock.time.advance(times.heartbeatInterval)
    const took = processorTime() - start
    if (!leases.every((lease) => lease.checkLease())) throw new Error('a lease is not held')
    return took
  }
}

async function compare(
  variants: readonly Variant[],
  prepare: (core: Core) => Promise<Round>,
): Promise<readonly (readonly number[])[]> {
  const prepared: (readonly [Variant, Round])[] = []
  for (const variant of variants) prepared.push([variant, await prepare(variant.core)])
  const results: number[][] = []
  // The first two rounds are not counted: they compile the code.
  for (let round = -2; round < rounds; round += 1) {
    const there: number[] = []
    for (const [variant, measure] of prepared) there.push(await measured(variant, measure))
    const back: number[] = []
    for (const [variant, measure] of prepared.toReversed()) back.unshift(await measured(variant, measure))
    if (round >= 0) results.push(there.map((value, place) => (value + (back[place] ?? value)) / 2))
  }
  return results
}

/** Bundles core into one file and loads it; without the code of its channels if `isCut`. */
async function bundled(folder: string, name: string, isCut: boolean): Promise<Core> {
  const outfile = join(folder, `${name}.mjs`)
  let cuts = 0
  await build({
    entryPoints: [join(sources, 'index.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    minifySyntax: true,
    plugins: [
      {
        name: 'cut',
        setup: ({ onLoad }) => {
          onLoad({ filter: /\.ts$/ }, ({ path }) => {
            const contents = readFileSync(path, 'utf8').replace(IS_ON, (found) => {
              cuts += 1
              return isCut ? 'false' : found
            })
            return { loader: 'ts', contents }
          })
        },
      },
    ],
  })
  if (cuts === 0) throw new Error('no question whether anyone listens was found: the bundles would be the same')
  return (await import(pathToFileURL(outfile).href)) as Core
}

/** The interval of 95 % of the median of the values, by their order. */
function interval(values: readonly number[]): readonly [number, number] {
  const sorted = values.toSorted((one, other) => one - other)
  const distance = 0.98 * Math.sqrt(sorted.length)
  const at = (rank: number): number => sorted[Math.min(Math.max(Math.round(rank), 0), sorted.length - 1)] ?? Number.NaN
  return [at((sorted.length - 1) / 2 - distance), at((sorted.length - 1) / 2 + distance)]
}

const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
process.on('exit', () => rmSync(folder, { recursive: true }))
const cut: Variant = { name: 'without channels', core: await bundled(folder, 'cut', true), hasSubscribers: false }
const again: Variant = { name: 'the same once more', core: await bundled(folder, 'again', true), hasSubscribers: false }
const own = await bundled(folder, 'own', false)
const silent: Variant = { name: 'without a subscriber', core: own, hasSubscribers: false }
const heard: Variant = { name: 'with a subscriber of each channel', core: own, hasSubscribers: true }
// Those with a subscriber come last: Node changes the class of a channel for good when it gets a subscriber.
const pairs: readonly (readonly [Variant, Variant])[] = [
  [cut, again],
  [cut, silent],
  [silent, heard],
]
const figures = [
  { name: 'acquire + release in memory, ns', prepare: holdsInMemory, unit: 1e6 / cycles },
  { name: `a heartbeat of ${held} held leases, µs of processor time`, prepare: heartbeats, unit: 1e3 / held },
]
const rows: string[][] = []
const failures: string[] = []
for (const pair of pairs) {
  for (const { name, prepare, unit } of figures) {
    const results = await compare(pair, prepare)
    const ratios = results.map(([first = Number.NaN, second = Number.NaN]) => second / first)
    const values = pair.map((_, place) =>
      (median(results.map((round) => round[place] ?? Number.NaN)) * unit).toFixed(2),
    )
    const range = interval(ratios)
      .map((ratio) => ratio.toFixed(3))
      .join(' to ')
    rows.push([name, `${pair[1].name} / ${pair[0].name}`, ...values.toReversed(), median(ratios).toFixed(3), range])
    if (pair[1] === silent && median(ratios) > 1 + GOAL) failures.push(`${name}: more than ${GOAL * 100} % slower`)
  }
}
console.log(table('figure | compared | value | other value | ratio | of 95 %', rows))
for (const failure of failures) console.error(`Goal not reached: ${failure}`)
process.exit(failures.length === 0 ? 0 : 1)
