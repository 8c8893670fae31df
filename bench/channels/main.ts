/**
 * Measures the cost of the diagnostics channels: `main.ts [BEFORE]`. BEFORE is a second checkout, of a commit without channels. Run
 * `npm run build` there first. Two variants take turns in this process, A B B A, so that a disturbance affects both. A
 * ratio is the median of the ratios of the rounds; its range shows the noise.
 */
import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import * as core from '@leasehold/core'
import { VirtualClock } from '@leasehold/testkit'
import { processorTime } from '../support/processor-time.js'
import { median } from '../support/statistics.js'
import { table } from '../support/table.js'

type Core = Pick<typeof core, 'createLease' | 'MemoryLeaseStore'>

const CHANNELS = ['acquired', 'renewed', 'jeopardy', 'recovered', 'lost', 'released', 'waiting', 'stall'] as const
const TRACED = ['acquire', 'run', 'store'] as const

/** At most this part slower, without a subscriber. */
const GOAL = 0.01

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '15' },
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

const [before] = positionals
const silent: Variant = { name: 'without a subscriber', core, hasSubscribers: false }
const heard: Variant = { name: 'with a subscriber of each channel', core, hasSubscribers: true }
// Those with a subscriber come last: Node changes the class of a channel for good when it gets a subscriber.
const pairs: (readonly [Variant, Variant])[] = [[silent, heard]]
if (before !== undefined) {
  const program = pathToFileURL(resolve(before, 'packages/core/dist/index.js'))
  const older = (await import(program.href)) as Core
  pairs.unshift([{ name: 'without channels', core: older, hasSubscribers: false }, silent])
}
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
    const range = `${Math.min(...ratios).toFixed(3)} to ${Math.max(...ratios).toFixed(3)}`
    rows.push([name, `${pair[1].name} / ${pair[0].name}`, ...values.toReversed(), median(ratios).toFixed(3), range])
    if (pair[1] === silent && median(ratios) > 1 + GOAL) failures.push(`${name}: more than ${GOAL * 100} % slower`)
  }
}
console.log(table('figure | compared | value | other value | ratio | range', rows))
for (const failure of failures) console.error(`Goal not reached: ${failure}`)
process.exit(failures.length === 0 ? 0 : 1)
