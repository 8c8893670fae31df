/**
 * Ours, advisory locks and two packages on one PostgreSQL: prints the tables and fails where a goal of ours is not reached.
 * `--only cycles,holding` measures some of the numbers, `--write` writes the page into `docs`.
 */
import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { migrate } from '@leasehold/postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Pool } from 'pg'
import { reportBloat } from './numbers/bloat.js'
import { reportCycles } from './numbers/cycles.js'
import { reportGuard } from './numbers/guard.js'
import { reportHandOver } from './numbers/hand-over.js'
import { reportHolding } from './numbers/holding.js'
import { toDocument } from './report/document.js'
import { machine } from './report/machine.js'
import type { NumberReport } from './report/number-report.js'
import { installRivals } from './rivals.js'
import { safeSettings } from './safe-settings.js'

const numbers: Readonly<Record<string, (url: string) => Promise<NumberReport>>> = {
  cycles: reportCycles,
  'hand-over': reportHandOver,
  holding: reportHolding,
  bloat: reportBloat,
  guard: reportGuard,
}

async function main(asked: readonly string[], write: boolean): Promise<void> {
  const unknown = asked.filter((name) => !Object.hasOwn(numbers, name))
  if (unknown.length > 0) throw new Error(`no such number: ${unknown.join(', ')}; there are ${Object.keys(numbers)}`)
  if (write && asked.length > 0) throw new Error('the page is of one run of all numbers: --write goes without --only')
  installRivals()
  const server = await PostgresServer.start({ settings: safeSettings })
  const reports: NumberReport[] = []
  try {
    const pool = new Pool({ connectionString: server.url })
    await migrate(pool)
    const where = machine(`PostgreSQL ${(await pool.query('SHOW server_version')).rows[0].server_version}`)
    await pool.end()
    console.log(where)
    for (const [name, report] of Object.entries(numbers)) {
      if (asked.length > 0 && !asked.includes(name)) continue
      const start = performance.now()
      const result = await report(server.url)
      console.log(`\n## ${result.title}\n\n${result.body}`)
      console.error(`\n(${name}: ${Math.round((performance.now() - start) / 1_000)} s)`)
      reports.push(result)
    }
    if (write) {
      const page = new URL('../../docs/benchmarks-postgres.md', import.meta.url)
      writeFileSync(page, toDocument(where, new Date().toISOString().slice(0, 10), reports))
    }
  } finally {
    await server.stop()
  }
  const failures = reports.flatMap((report) => report.failures)
  for (const failure of failures) console.error(`Goal not reached: ${failure}`)
  process.exitCode = failures.length === 0 ? 0 : 1
}

const { values } = parseArgs({ options: { only: { type: 'string' }, write: { type: 'boolean', default: false } } })
await main(values.only?.split(',') ?? [], values.write)
