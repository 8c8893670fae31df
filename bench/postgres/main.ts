/** Ours, advisory locks and two packages on one PostgreSQL: prints the tables and fails where a goal of ours is not reached. */
import { migrate } from '@leasehold/postgres'
import { PostgresServer } from '@leasehold/testing/postgres-server'
import { Pool } from 'pg'
import { runBenchmark } from '../support/benchmark.js'
import { busyMachine } from '../support/machine.js'
import { rivals } from './contenders/packages.js'
import { reportBloat } from './numbers/bloat.js'
import { reportCycles } from './numbers/cycles.js'
import { reportGuard } from './numbers/guard.js'
import { reportHandOver } from './numbers/hand-over.js'
import { safeSettings } from './safe-settings.js'

const numbers = {
  cycles: reportCycles,
  'hand-over': reportHandOver,
  bloat: reportBloat,
  guard: reportGuard,
}

const page = { name: 'benchmarks-postgres', template: new URL('page.md', import.meta.url) }

await runBenchmark(numbers, [page], async () => {
  rivals.install()
  const server = await PostgresServer.start({ settings: safeSettings })
  const pool = new Pool({ connectionString: server.url })
  await migrate(pool)
  const { rows } = await pool.query('SHOW server_version')
  await pool.end()
  const machine = busyMachine(`PostgreSQL ${rows[0].server_version}`)
  return { server: server.url, machine, stop: () => server.stop() }
})
