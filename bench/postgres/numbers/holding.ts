import { setTimeout as pause } from 'node:timers/promises'
import { createLease } from '@leasehold/core'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'
import type { NumberReport } from '../../support/benchmark.js'
import { Child } from '../../support/child.js'
import { growthOf } from '../../support/counters.js'
import { mapLimited } from '../../support/lanes.js'
import { processorTime } from '../../support/processor-time.js'
import { shown, table } from '../../support/table.js'
import { ServerMeter } from '../server-meter.js'

const LEASES = 10_000
const TTL = 30_000
const INTERVAL = 9_000
/** In milliseconds: several renewals of each lease. */
const MEASURED = 60_000
const AT_ONCE = 100
const CONNECTIONS = 10
/** In `LEASES` rows each, for the table of one's own. */
const NAIVE_ROUNDS = 3

export async function measureHolding({ url }: { readonly url: string }) {
  const pool = new Pool({ connectionString: url, max: CONNECTIONS })
  const [store, meter] = [new PostgresLeaseStore(pool), new ServerMeter(url)]
  let renewals = 0
  const leases = Array.from({ length: LEASES }, (_, place) => {
    const times = { heartbeatTimeout: TTL, heartbeatInterval: INTERVAL, operationTimeout: 1_500 }
    const lease = createLease(store, `holding-${place}`, times)
    lease.on('renewed', () => {
      renewals += 1
    })
    return lease
  })
  await mapLimited(leases, AT_ONCE, async (lease) => {
    if (!(await lease.acquire({ wait: 30_000 }))) throw new Error(`${lease.settings.name} is held`)
  })
  const read = async () => ({ client: processorTime(), renewals, ...(await meter.read()) })
  return {
    ...(await growthOf(read, () => pause(MEASURED))),
    stillHeld: leases.filter((lease) => lease.checkLease()).length,
    table: await meter.table('leasehold.leases'),
  }
}

/** Bytes of the log for each renewal of a table of one's own: one `UPDATE` and one transaction for each lease. */
async function naiveWal(url: string): Promise<{ wal: number; cpu: number }> {
  const meter = new ServerMeter(url)
  const pool = new Pool({ connectionString: url, max: CONNECTIONS })
  await meter.query('DROP TABLE IF EXISTS naive')
  await meter.query('CREATE TABLE naive (name text PRIMARY KEY, owner text, token bigint, expires_at timestamptz)')
  await meter.query(
    `INSERT INTO naive SELECT 'holding-' || n, 'owner', 1, clock_timestamp() FROM generate_series(0, ${LEASES - 1}) n`,
  )
  const renew = `UPDATE naive SET expires_at = clock_timestamp() + interval '30 s' WHERE name = $1 AND token = 1`
  const names = Array.from({ length: LEASES }, (_, place) => `holding-${place}`)
  const round = () => mapLimited(names, AT_ONCE, (name) => pool.query({ name: 'renew', text: renew, values: [name] }))
  // The first changes after a checkpoint log whole pages.
  await round()
  const { wal, cpu } = await growthOf(
    () => meter.read(),
    async () => {
      for (let count = 0; count < NAIVE_ROUNDS; count += 1) await round()
    },
  )
  await pool.end()
  await meter.close()
  const renewals = NAIVE_ROUNDS * LEASES
  return { wal: wal / renewals, cpu: cpu / renewals }
}

export async function reportHolding(url: string): Promise<NumberReport> {
  const result = await Child.measure(import.meta.url, measureHolding, { url })
  const naive = await naiveWal(url)
  const wal = result.wal / result.renewals
  const rows = [
    ['client CPU, ms a minute', shown(result.client)],
    ['server CPU, ms a minute', shown(result.cpu)],
    ['server CPU, µs a renewal', shown((result.cpu / result.renewals) * 1_000)],
    ['server CPU, µs a renewal by one `UPDATE` each', shown(naive.cpu * 1_000)],
    ['transactions a minute', shown(result.transactions)],
    ['renewals a minute', shown(result.renewals)],
    ['bytes of the write-ahead log a renewal', shown(wal)],
    ['bytes of the write-ahead log a renewal by one `UPDATE` each', shown(naive.wal)],
    ['still held', shown(result.stillHeld)],
    [
      'size of the table and of its indexes, KB',
      `${kilobytes(result.table.size)} + ${kilobytes(result.table.indexes)}`,
    ],
  ]
  const failures = [
    ...(wal < naive.wal ? [] : [`holding: ${shown(wal)} bytes of the log a renewal, not below ${shown(naive.wal)}`]),
    ...(result.stillHeld < LEASES ? [`holding: ${result.stillHeld} of ${LEASES} still held after a minute`] : []),
  ]
  return {
    title: `Cost of holding ${shown(LEASES)} leases`,
    body: [
      `One process, ttl ${shown(TTL)} ms, a heartbeat every ${shown(INTERVAL)} ms, ${CONNECTIONS} connections; the minute after all are held.`,
      'The comparison is a table of one’s own with `name`, `owner`, `token` and `expires_at`, renewed by a prepared `UPDATE` and a',
      'transaction for each lease.',
      '',
      table('figure | measured', rows),
    ].join('\n'),
    failures,
  }
}

function kilobytes(bytes: number): string {
  return shown(Math.round(bytes / 1_024))
}
