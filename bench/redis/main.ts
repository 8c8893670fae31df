/**
 * Ours and three rivals on one redis-server: prints the tables and fails where a bound of ours is not kept.
 * `--only overlap,cycles` measures some of the numbers, `--write` writes the page and the chart into `docs`.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { RedisServer } from '@leasehold/testing/redis-server'
import { reportCycles } from './numbers/cycles.js'
import { reportEventLoopLag } from './numbers/event-loop-lag.js'
import { reportHandOver } from './numbers/hand-over.js'
import { reportHolding } from './numbers/holding.js'
import { reportOverlap } from './numbers/overlap.js'
import { reportSemaphore } from './numbers/semaphore.js'
import { toSvg } from './report/chart.js'
import { toDocument } from './report/document.js'
import { machine } from './report/machine.js'
import type { NumberReport } from './report/number-report.js'
import { installRivals } from './rivals.js'
import { serverVersion } from './server-meter.js'

const numbers: Readonly<Record<string, (port: number) => Promise<NumberReport>>> = {
  overlap: reportOverlap,
  'hand-over': reportHandOver,
  holding: reportHolding,
  cycles: reportCycles,
  'event-loop-lag': reportEventLoopLag,
  semaphore: reportSemaphore,
}

async function main(asked: readonly string[], write: boolean): Promise<void> {
  const unknown = asked.filter((name) => !Object.hasOwn(numbers, name))
  if (unknown.length > 0) throw new Error(`no such number: ${unknown.join(', ')}; there are ${Object.keys(numbers)}`)
  if (write && asked.length > 0) throw new Error('the page is of one run of all numbers: --write goes without --only')
  installRivals()
  const server = await RedisServer.start()
  const reports: NumberReport[] = []
  try {
    const where = machine(await serverVersion(server.port))
    console.log(where)
    for (const [name, report] of Object.entries(numbers)) {
      if (asked.length > 0 && !asked.includes(name)) continue
      const start = performance.now()
      const result = await report(server.port)
      console.log(`\n## ${result.title}\n\n${result.body}`)
      console.error(`\n(${name}: ${Math.round((performance.now() - start) / 1_000)} s)`)
      reports.push(result)
    }
    if (write) publish(where, reports)
  } finally {
    await server.stop()
  }
  const failures = reports.flatMap((report) => report.failures)
  for (const failure of failures) console.error(`Bound not kept: ${failure}`)
  process.exitCode = failures.length === 0 ? 0 : 1
}

function publish(where: string, reports: readonly NumberReport[]): void {
  const docs = new URL('../../docs/', import.meta.url)
  const date = new Date().toISOString().slice(0, 10)
  const title = 'Locks on Redis: @leasehold/redis and three other libraries'
  writeFileSync(new URL('benchmarks-redis.md', docs), toDocument(where, date, reports))
  writeFileSync(
    new URL('benchmarks-redis.svg', docs),
    toSvg(
      title,
      reports.flatMap(({ charts }) => charts),
    ),
  )
}

const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })
await main(values.only?.split(',') ?? [], values.write)
