import { writeChart, writePage } from '../../support/page.js'
import { shown, table } from '../../support/table.js'
import { costOf } from '../numbers/holding.js'
import { growthCharts, growthSection } from './growth-section.js'
import { holdingSection } from './holding-section.js'
import { kinds, readResults, titles } from './results.js'

/** The part of a core that heartbeats may take: the rest is for acquisitions, and for peaks. */
const PART = 0.7

/** The memory or the disk that the records may take, in bytes. */
const SPACE = 4 * 1024 ** 3

/** Writes the page and its chart, from the figures that were measured last. */
export function writeHoldingPage(): void {
  const measured = kinds.map((kind) => ({ kind, results: readResults(kind) }))
  const sections = measured.flatMap(({ kind, results }) => [
    ...(results.holding === undefined ? [] : [holdingSection(kind, results.holding)]),
    ...(results.growth === undefined ? [] : [growthSection(kind, results)]),
  ])
  const parts = { carried: carried(), figures: sections.join('\n').trimEnd() }
  writePage('benchmarks-holding', new URL('../page.md', import.meta.url), parts)
  const charts = measured.flatMap(({ kind, results }) => growthCharts(kind, results))
  writeChart('benchmarks-holding', 'The cost of held leases', charts)
}

/** How many leases one server carries, by what was measured of each store. */
function carried(): string {
  const rows = kinds.flatMap((kind) => {
    const { holding } = readResults(kind)
    if (holding === undefined) return []
    const { interval, ttl } = holding.task
    const { clients, server } = costOf(holding)
    const each = kind === 'local' ? clients : server
    const byCpu = (PART * interval * 1_000) / each
    const bySpace = SPACE / holding.stored
    return [
      [
        titles[kind],
        `${shown(ttl / 1_000)} s, ${shown(interval / 1_000)} s`,
        shown(each),
        ...[byCpu, byCpu / 4, holding.stored, bySpace, Math.min(byCpu, bySpace)].map((value) => shown(rounded(value))),
      ],
    ]
  })
  const head = 'store | ttl, heartbeat | CPU of a heartbeat, µs | leases by CPU | with heartbeats 4 times as often'
  return table(`${head} | bytes of a record | leases by space | one server carries`, rows)
}

/** To two digits: the third one is chance. */
function rounded(value: number): number {
  return Number(value.toPrecision(2))
}
