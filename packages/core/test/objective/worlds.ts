import { readFileSync } from 'node:fs'
import { lognormal, mixed, pareto, recorded, type World } from './world.js'

/** Stores in good and in bad days, and processes whose loop is blocked. */
export const worlds: readonly World[] = [
  { name: 'steady: 2 ms, one in six over 4 ms', roundTrip: lognormal(2, 2) },
  { name: 'heavy tail: 10 ms, falls with the power 1.1', roundTrip: pareto(10, 1.1) },
  {
    name: 'two kinds: 5 ms, and one in a hundred about 1 s',
    roundTrip: mixed(lognormal(5, 2), lognormal(900, 1.6), 0.01),
  },
  { name: 'errors: one request in twenty fails', roundTrip: lognormal(3, 2), errors: 0.05 },
  {
    name: 'fail-overs: silent each week, for 1 s or more, power 1.3',
    roundTrip: lognormal(3, 2),
    windows: [{ kind: 'silent', everyDays: 7, lasts: pareto(1_000, 1.3) }],
  },
  {
    name: 'restarts: connections refused twice a month, about 2 s',
    roundTrip: lognormal(3, 2),
    errors: 0.001,
    windows: [{ kind: 'refused', everyDays: 15, lasts: lognormal(2_000, 1.6) }],
  },
  {
    name: 'brown-outs: each month 40 % without an answer for 5 minutes',
    roundTrip: pareto(8, 1.4),
    windows: [{ kind: 'slow', everyDays: 30, lasts: lognormal(300_000, 1.5), part: 0.4 }],
  },
  {
    name: 'blocked loop: each day for 300 ms or more, power 1.4',
    roundTrip: lognormal(3, 2),
    windows: [{ kind: 'stall', everyDays: 1, lasts: pareto(300, 1.4) }],
  },
]

/**
 * Round trips that were recorded on a machine of two cores: 4,000 writes to Redis while other work kept the machine busy; and
 * 20,000 heartbeats each to Redis and to PostgreSQL, both with every write on the disk, while clients loaded the server for 6 s
 * out of 10 (`bench/objective/record.ts`). Each heartbeat gets one of them, independently of the one before.
 */
export function recordedWorlds(): readonly World[] {
  const redis: number[] = contentOf('recorded-redis.json')
  return [
    { name: 'recorded: Redis on a busy machine', roundTrip: recorded(redis) },
    { name: 'recorded: Redis under load', roundTrip: recorded(expand(contentOf('recorded-redis-under-load.json'))) },
    {
      name: 'recorded: PostgreSQL under load',
      roundTrip: recorded(expand(contentOf('recorded-postgres-under-load.json'))),
    },
  ]
}

/** How often each duration was seen. */
interface Recording {
  readonly durations: readonly (readonly [duration: number, count: number])[]
}

function expand({ durations }: Recording): number[] {
  return durations.flatMap(([duration, count]) => Array.from({ length: count }, () => duration))
}

function contentOf<Content>(file: string): Content {
  return JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
}
