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

/** 4,000 writes to Redis over a socket, on a machine of two cores that was busy with other work. */
export function recordedRedis(): World {
  const text = readFileSync(new URL('recorded-redis.json', import.meta.url), 'utf8')
  return { name: 'recorded: Redis on a busy machine', roundTrip: recorded(JSON.parse(text)) }
}
