/** Simulates leases across three regions, and writes the figures into docs/internals/what-comes-after.md. */
import { TimeoutSettings } from '@leasehold/core'
import { writeFigures } from '../support/page.js'
import { table } from '../support/table.js'
import { type Costs, measureChild, measureCosts } from './costs.js'
import { FAULT, measureFaults, measureSilence } from './faults.js'
import { falseLosses } from './losses.js'
import { advise } from './objectives.js'
import { type Region, ROUND_TRIPS, regions } from './regions.js'

/** Of each measurement, with another seed each. */
const RUNS = 40

/** Of each number of false losses. */
const DAYS = 30_000

const TTLS = [1_000, 2_000, 5_000, 10_000, 30_000]

async function costs(): Promise<string> {
  const rows = (await measureCosts(RUNS)).map(rowOfCosts)
  const child = Math.round(await measureChild(RUNS))
  const head =
    'the store | holder in | acquire | heartbeat | released, then held in A | in B | in C | handed off to the farthest | taken over after a crash'
  return `${table(head, rows)}\n\nA lease in C under a parent whose store is in A, with its own store in C: acquired in ${child} ms.`
}

function rowOfCosts({ placement, holder, acquire, heartbeat, handOver, handOff, takeOver }: Costs): string[] {
  const times = [acquire, heartbeat, ...regions.map((region) => handOver[region]), handOff].map(
    (time) => `${Math.round(time)} ms`,
  )
  return [placement, holder, ...times, seconds(takeOver)]
}

async function faults(): Promise<string> {
  const rows = (await measureFaults(RUNS)).map(({ placement, fault, gap }) => {
    return [placement, fault, ...regions.map((region) => gapCell(gap[region]))]
  })
  return table('the store | for a minute | holder in A | holder in B | holder in C', rows)
}

function gapCell(gap: number): string {
  if (gap === 0) return 'held on'
  return gap === FAULT ? 'nobody until the end' : `nobody for ${seconds(gap)}`
}

async function silences(): Promise<string> {
  const lengths = [1_000, 3_000, 5_000, 10_000, 30_000]
  const rows: string[][] = []
  for (const ttl of TTLS.slice(1)) {
    const { heartbeatInterval, operationTimeout } = new TimeoutSettings({ heartbeatTimeout: ttl })
    const parts: number[] = []
    for (const length of lengths) parts.push(await measureSilence(ttl, length, RUNS))
    const shown = parts.map((part) => (part === 0 ? 'none' : part === 1 ? 'all' : `${Math.round(100 * part)} %`))
    rows.push([seconds(ttl), seconds(heartbeatInterval), seconds(operationTimeout), ...shown])
  }
  return table(
    `ttl | interval | time limit | ${lengths.map((length) => `silent for ${seconds(length)}`).join(' | ')}`,
    rows,
  )
}

function losses(): string {
  const links = [
    { roundTrip: 80, packetLoss: 0.01, isSilentAtTimes: false },
    { roundTrip: 200, packetLoss: 0.01, isSilentAtTimes: false },
    { roundTrip: 200, packetLoss: 0.05, isSilentAtTimes: false },
    { roundTrip: 200, packetLoss: 0.01, isSilentAtTimes: true },
  ]
  const rows = TTLS.map((heartbeatTimeout) => {
    return [seconds(heartbeatTimeout), ...links.map((link) => rate(falseLosses(link, { heartbeatTimeout }, DAYS)))]
  })
  return table('ttl | 80 ms, 1 % | 200 ms, 1 % | 200 ms, 5 % | 200 ms, 1 %, silent once a week', rows)
}

function limits(): string {
  const rows = [210, 250, 500, 700, 1_000, 1_500].map((operationTimeout) => {
    const cells = [2_000, 5_000].flatMap((heartbeatTimeout) =>
      [0.01, 0.05].map((packetLoss) => {
        const link = { roundTrip: 200, packetLoss, isSilentAtTimes: false }
        return rate(falseLosses(link, { heartbeatTimeout, operationTimeout }, DAYS))
      }),
    )
    return [seconds(operationTimeout), ...cells]
  })
  return table('time limit | ttl 2 s, 1 % | ttl 2 s, 5 % | ttl 5 s, 1 % | ttl 5 s, 5 %', rows)
}

function objectives(): string {
  const links: readonly (readonly [Region, Region])[] = [
    ['A', 'B'],
    ['B', 'C'],
  ]
  const rows = [2_000, 5_000, 10_000, 30_000].flatMap((failover) =>
    links.map(([from, to]) => {
      const { kept, heartbeatTimeout, heartbeatInterval, operationTimeout } = advise(from, to, failover)
      const times = [heartbeatTimeout, heartbeatInterval, operationTimeout].map(seconds)
      return [seconds(failover), `${ROUND_TRIPS[from][to]} ms`, ...times, kept ? 'yes' : 'no']
    }),
  )
  return table('failover | round trip | ttl | interval | time limit | kept', rows)
}

function seconds(duration: number): string {
  return `${Number((duration / 1_000).toPrecision(2))} s`
}

function rate(losses: number): string {
  if (losses === Number.POSITIVE_INFINITY) return 'never renewed'
  return losses < 0.01 ? 'below 0.01' : Number(losses.toPrecision(2)).toLocaleString('en')
}

const figures = {
  costs: await costs(),
  faults: await faults(),
  silences: await silences(),
  losses: losses(),
  limits: limits(),
  objectives: objectives(),
}
for (const [name, figure] of Object.entries(figures)) process.stdout.write(`${name}\n\n${figure}\n\n`)
writeFigures('internals/what-comes-after', figures)
