/**
 * `npm run bench -- opentelemetry [IN-FLIGHT] [REPETITIONS]`: cycles of acquire and release on one redis-server, with and
 * without metrics and traces. Each contender has a process of its own; the processes take turns, and a figure is the median of
 * the ratios of the rounds. Fails if metrics cost more than the bound.
 */
import { RedisServer } from '@leasehold/testing/redis-server'
import { Child } from '../support/child.js'
import { race } from '../support/cycles.js'
import { median } from '../support/statistics.js'
import { shown, table } from '../support/table.js'
import { type ContenderName, contenders, openRacer } from './contender.js'

/** How much longer a cycle may take with metrics. */
const BOUND = 0.05

const CONTENDER = new URL('contender.ts', import.meta.url).href

const [inFlight = 64, repetitions = 3] = process.argv.slice(2).map(Number)
const ids = Object.keys(contenders) as ContenderName[]
const server = await RedisServer.start()
try {
  const { port } = server
  const start = (id: string) => Child.start(CONTENDER, openRacer, { contender: id as ContenderName, port, inFlight })
  const windows = await race(ids, start, { repetitions, rounds: 6 })
  const off = windows.off ?? []
  const ratio = (id: string, figure: 'rate' | 'cpu'): number =>
    median((windows[id] ?? []).map((window, round) => window[figure] / (off[round]?.[figure] ?? Number.NaN)))
  /** The added processor time, as a part of the time from the beginning of a cycle to its end without it. */
  const partOfCycle = (id: string): number =>
    median(
      (windows[id] ?? []).map(({ cpu }, round) => {
        const without = off[round]
        return without === undefined ? Number.NaN : (cpu - without.cpu) / ((inFlight / without.rate) * 1e6)
      }),
    )
  const rows = ids.map((id) => [
    id,
    shown(median((windows[id] ?? []).map(({ rate }) => rate))),
    shown(median((windows[id] ?? []).map(({ cpu }) => cpu))),
    percentage(1 / ratio(id, 'rate') - 1),
    percentage(ratio(id, 'cpu') - 1),
    percentage(partOfCycle(id)),
  ])
  console.log(
    table(
      `${inFlight} in flight | cycles a second | CPU, µs a cycle | longer cycle | more CPU | added CPU, part of the duration of a cycle`,
      rows,
    ),
  )
  const cost = 1 / ratio('metrics', 'rate') - 1
  if (cost > BOUND) {
    console.error(`Goal not reached: with metrics a cycle takes ${percentage(cost)} longer, not ${percentage(BOUND)}`)
    process.exitCode = 1
  }
} finally {
  await server.stop()
}

function percentage(part: number): string {
  return `${(part * 100).toFixed(1)} %`
}
