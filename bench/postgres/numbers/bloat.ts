import { setTimeout as pause } from 'node:timers/promises'
import { AbortableCall } from '@leasehold/core/store'
import { PostgresLeaseStore } from '@leasehold/postgres'
import { Pool } from 'pg'
import type { NumberReport } from '../../support/benchmark.js'
import { growthOf } from '../../support/counters.js'
import { mapLimited } from '../../support/lanes.js'
import { shown, table } from '../../support/table.js'
import { ServerMeter, type TableReading } from '../server-meter.js'

const TTL = 300_000
/** How many leases are renewed in turn, how many of them in one call, and how many renewals there are in all. */
const SHAPES = [
  { leases: 10, together: 1, renewals: 10_000 },
  { leases: 1_000, together: 1_000, renewals: 100_000 },
  { leases: 10_000, together: 10_000, renewals: 100_000 },
] as const
const NAIVE = { leases: 10_000, rounds: 3 } as const
/** Acquisitions on their way at once. */
const AT_ONCE = 200
/** Longer than the pause between two looks of the autovacuum of the bench's server, in milliseconds. */
const VACUUM = 3_000

/** Renews in turn, in calls of so many. */
async function renewAll(url: string, { leases, together, renewals }: (typeof SHAPES)[number]) {
  const pool = new Pool({ connectionString: url })
  const [store, meter, call] = [new PostgresLeaseStore(pool), new ServerMeter(url), new AbortableCall()]
  await meter.query('TRUNCATE leasehold.leases')
  const places = Array.from({ length: leases }, (_, place) => place)
  const grants = await mapLimited(places, AT_ONCE, async (place) => {
    const claim = { name: `bloat-${place}`, owner: 'bench', grantId: `grant-${place}`, ttl: TTL }
    const outcome = await store.acquire(claim, call)
    if (!outcome.granted) throw new Error(`held by ${outcome.holder?.owner}`)
    return outcome.grant
  })
  await pause(VACUUM)
  const [before, first, start] = [await meter.table('leasehold.leases'), await meter.read(), performance.now()]
  for (let count = 0; count < renewals; count += together) {
    const first = count % leases
    const outcomes = await store.renewMany(grants.slice(first, first + together), call)
    if (!outcomes.every((outcome) => 'renewed' in outcome && outcome.renewed)) throw new Error('a lease was lost')
  }
  const time = performance.now() - start
  // A session reports its counts about a second late.
  await pause(1_500)
  const after = await meter.table('leasehold.leases')
  const last = await meter.read()
  await pause(VACUUM)
  const settled = await meter.table('leasehold.leases')
  await store.close()
  await pool.end()
  await meter.close()
  const [wal, cpu] = [(last.wal - first.wal) / renewals, (last.cpu - first.cpu) / renewals]
  return { before, after, settled, time, wal, cpu }
}

/** A table of one's own, renewed by one prepared `UPDATE` and one transaction for each lease: the cost of a renewal. */
async function renewNaively(url: string) {
  const [pool, meter] = [new Pool({ connectionString: url, max: 10 }), new ServerMeter(url)]
  await meter.query('DROP TABLE IF EXISTS naive')
  await meter.query('CREATE TABLE naive (name text PRIMARY KEY, owner text, token bigint, expires_at timestamptz)')
  await meter.query(
    `INSERT INTO naive SELECT 'lease-' || n, 'owner', 1, clock_timestamp() FROM generate_series(1, ${NAIVE.leases}) n`,
  )
  const text = `UPDATE naive SET expires_at = clock_timestamp() + interval '30 s' WHERE name = $1 AND token = 1`
  const names = Array.from({ length: NAIVE.leases }, (_, place) => `lease-${place + 1}`)
  const round = () => mapLimited(names, 100, (name) => pool.query({ name: 'renew', text, values: [name] }))
  // The first changes after a checkpoint log whole pages.
  await round()
  const read = () => meter.read()
  const { wal, cpu } = await growthOf(read, async () => {
    for (let count = 0; count < NAIVE.rounds; count += 1) await round()
  })
  await pool.end()
  await meter.close()
  const renewals = NAIVE.rounds * NAIVE.leases
  return { renewals, wal: wal / renewals, cpu: cpu / renewals }
}

export async function reportBloat(url: string): Promise<NumberReport> {
  const rows: string[][] = []
  const failures: string[] = []
  const naive = await renewNaively(url)
  for (const shape of SHAPES) {
    const { before, after, settled, time, wal, cpu } = await renewAll(url, shape)
    const updates = after.updates - before.updates
    const hot = (after.hot - before.hot) / updates
    rows.push([
      `${shown(shape.leases)}, ${shown(shape.together)} in a call`,
      shown(shape.renewals),
      shown((time / shape.renewals) * 1_000),
      shown(cpu * 1_000),
      shown(wal),
      `${shown(hot * 100)} %`,
      sizeOf(before),
      sizeOf(after),
      shown(after.dead),
      shown(settled.dead),
      shown(settled.autovacuums - before.autovacuums),
    ])
    if (!(hot > 0.95))
      failures.push(`bloat, ${shape.leases} leases: ${shown(hot * 100)} % of the updates are HOT, not 95 %`)
    if (shape.together > 1 && wal >= naive.wal)
      failures.push(`bloat: ${shown(wal)} bytes of the log a renewal, not below ${shown(naive.wal)}`)
  }
  const own = [`${shown(NAIVE.leases)} in a table of one’s own, one \`UPDATE\` each`, shown(naive.renewals), '']
  rows.push([...own, shown(naive.cpu * 1_000), shown(naive.wal), ...Array(6).fill('')])
  return {
    title: 'Table after many renewals',
    body: [
      'One call after the other, on one connection. Sizes are those of the table and of its indexes. A dead row is an old version',
      'that has not been removed yet: the next update of a row of its page removes it, or the autovacuum, which looks every',
      'second on this server instead of every minute.',
      '',
      table(
        'leases | renewals | µs a renewal | µs of server CPU | bytes of the log a renewal | updates in place (HOT) | KB before | KB after | dead rows after | dead rows 3 s later | autovacuums',
        rows,
      ),
    ].join('\n'),
    failures,
  }
}

function sizeOf({ size, indexes }: TableReading): string {
  return [size, indexes].map((bytes) => shown(Math.round(bytes / 1_024))).join(' + ')
}
