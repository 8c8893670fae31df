/**
 * Eight processes share values that one of them refreshes when they have expired, over one folder of the local store. Processes
 * are killed and stopped in the middle of a refresh. Prints how long callers waited, compared with the time of a refresh.
 * Fails if a refresh token was used twice, if a value was refreshed twice although its first refresh lived, or if 1% of the
 * waits took three refreshes or longer. The argument is the number of expiries; 100,000 unless given.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleWithEdits } from '@leasehold/testing/bundle-with-edits'
import { RefreshFleet } from '../../packages/recipes/test/single-flight/fleet/refresh-fleet.js'
import { median, percentile } from '../support/statistics.js'
import { table } from '../support/table.js'

const PROCESSES = 8

/** Values that expire side by side. */
const ACCOUNTS = 64

/** Milliseconds. */
const TIMES = { ttl: 2_000, freshFor: 300, staleFor: 0, refreshTime: 200 }

/** The longest time for one expiry, in milliseconds, with the time for faults. */
const LONGEST = 100

/** How many refreshes a wait may take, of 99 in 100. */
const BOUND = 3

const expiries = Number(process.argv[2] ?? 100_000)
if (!Number.isSafeInteger(expiries) || expiries < 1) throw new Error('give a whole number of expiries')

const folder = mkdtempSync(join(tmpdir(), 'leasehold-bench-'))
const [entry, sources] = ['test/single-flight/programs/refresher.ts', 'src/'].map((path) =>
  fileURLToPath(new URL(`../../packages/recipes/${path}`, import.meta.url)),
) as [string, string]
// In one file, so that eight processes start in little time.
const program = join(folder, 'refresher.mjs')
await bundleWithEdits({ entry, sources, edits: [] }, program)
const faults = {
  killEvery: Math.min(2_000, Math.ceil(expiries / 3)),
  stopEvery: Math.min(2_700, Math.ceil(expiries / 2)),
}
const options = {
  program,
  execArgv: [],
  folder: join(folder, 'leases'),
  processes: PROCESSES,
  accounts: ACCOUNTS,
  ...TIMES,
}
const fleet = new RefreshFleet(options, faults)
try {
  await fleet.run(expiries, 30_000 + expiries * LONGEST)
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const { refreshes, family, repeated, interrupted, disturbed, kills, stops, failures, waits } = fleet
const inRefreshes = (wait: number): string => (wait / TIMES.refreshTime).toFixed(2)
const p99 = percentile(waits, 0.99)
console.log(
  table(`${PROCESSES} processes, ${ACCOUNTS} values, a refresh takes ${TIMES.refreshTime} ms | measured | bound`, [
    ['refreshes', String(refreshes), String(expiries)],
    ['refresh tokens used twice', String(family.reused), '0'],
    ['values refreshed twice, although the first refresh lived', String(repeated), '0'],
    [
      'refreshes that were interrupted',
      String(interrupted),
      `${disturbed} disturbed by ${kills} kills and ${stops} stops, ${failures} failures`,
    ],
    ['waits', String(waits.length), ''],
    ['median of a wait, in refreshes', inRefreshes(median(waits)), ''],
    ['p99 of a wait, in refreshes', inRefreshes(p99), `< ${BOUND}`],
  ]),
)
const isKept = family.reused === 0 && repeated === 0 && interrupted <= disturbed + failures
process.exitCode = refreshes >= expiries && isKept && p99 < BOUND * TIMES.refreshTime ? 0 : 1
