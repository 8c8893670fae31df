import { writeFileSync } from 'node:fs'
import { toSvg } from '../../support/chart.js'
import { shown, table } from '../../support/table.js'
import { costOf } from '../numbers/holding.js'
import { growthCharts, growthSection } from './growth-section.js'
import { holdingSection } from './holding-section.js'
import { kinds, readResults, titles } from './results.js'

const docs = new URL('../../../docs/', import.meta.url)

/** The part of a core that heartbeats may take: the rest is for acquisitions, and for peaks. */
const PART = 0.7

/** The memory or the disk that the records may take, in bytes. */
const SPACE = 4 * 1024 ** 3

/** Writes the page and its chart, from the figures that were measured last. */
export function writePage(): void {
  const measured = kinds.map((kind) => ({ kind, results: readResults(kind) }))
  const sections = measured.flatMap(({ kind, results }) => [
    ...(results.holding === undefined ? [] : [holdingSection(kind, results.holding)]),
    ...(results.growth === undefined ? [] : [growthSection(kind, results)]),
  ])
  const lines = [...introduction, ...carried(), '', ...sections, ...method]
  writeFileSync(new URL('benchmarks-holding.md', docs), lines.join('\n'))
  const charts = measured.flatMap(({ kind, results }) => growthCharts(kind, results))
  writeFileSync(new URL('benchmarks-holding.svg', docs), toSvg('The cost of held leases', charts))
}

const introduction = [
  '# The cost of holding',
  '',
  'A lease is acquired once, and then costs a heartbeat again and again. This page has that cost for each store. Its headings',
  'name how many leases were held. `npm run bench -- holding` measures it. Each run replaces the figures of one store:',
  '',
  '```sh',
  'npm run bench -- holding --store redis --leases 1000000 --processes 8 --minutes 10 --ttl 120 --kill --write',
  'npm run bench -- holding --store redis --growth all --leases 1000000 --write',
  '```',
  '',
  '![The figures of growth as bars](benchmarks-holding.svg)',
  '',
]

/** How many leases one server carries, by what was measured of each store. */
function carried(): string[] {
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
  const head = [
    'store',
    'ttl, heartbeat',
    'CPU of a heartbeat, µs',
    'leases by CPU',
    'with heartbeats 4 times as often',
  ]
  return [
    '## How many leases one server carries',
    '',
    'The leases by CPU are those whose heartbeats take 70 % of one core of the server: 0.7 × the heartbeat interval / the CPU of a',
    'heartbeat. The leases by space are those whose records take 4 GiB. One server carries the smaller of the two. `local` has no',
    'server: its figures are those of the processes that hold the leases, all on one machine.',
    '',
    table([...head, 'bytes of a record', 'leases by space', 'one server carries'], rows),
  ]
}

/** To two digits: the third one is chance. */
function rounded(value: number): number {
  return Number(value.toPrecision(2))
}

const method = [
  '## How it was measured, and the limits of the figures',
  '',
  '- Clients and server share one machine, and its cores. A line "Measured on" names its load. Another load gives other delays.',
  '- Each process has one store object, with its own connections. It acquires 64 leases at a time.',
  '- The processor time of a lease in each heartbeat interval is without that of the same processes before their first lease.',
  '- A delay of the event loop is the time by which a timer of 10 ms came late. It includes the time in which the process waited',
  '  for a core.',
  '- The heap and the resident memory of a lease are those after a garbage collection, without those of the process before its',
  '  first lease. The name, the settings and everything that the store keeps for the lease are included.',
  '- The commands of Redis are those that it executed, with those that scripts called: a renewal executes two, and a part of a',
  '  third. The transactions of PostgreSQL and the messages to etcd contain many heartbeats each.',
  '- PostgreSQL ran with `fsync` and `full_page_writes`, etcd without fsync, Redis without files.',
  '- In a take-over, a token is compared with the token that the killed process had for the same name.',
  '- The other names of the last table of each store have a ttl of an hour, and so no heartbeat while it is measured.',
  '- The figures of a store are those of one run. Runs on a machine without free processor time were not kept.',
  '- Four runs of a million leases on Redis, with earlier versions and on a slower machine (2026-11-24), missed goals. The p99 delay',
  '  was up to 43.4 ms, and the busiest second had up to 2.45 times the mean. In three of them, the last lease was taken over 42 to',
  '  62.4 s after the ttl. The cause: a process short of processor time woke thousands of leases in one turn of the event loop, and',
  '  read no answer meanwhile. So it repeated requests, which held it up again. That is mended. In the run after it, on the same',
  '  machine, the last lease was taken over 1 s after the ttl. The p99 delay was up to 33 ms, and the busiest second had 2.66',
  '  times the mean; other programs ran beside its first minutes. No lease was lost in any of these runs, and no token repeated.',
  '',
]
