import { parseArgs } from 'node:util'
import { kinds } from './report/results.js'

export type Growth = 'leases' | 'processes' | 'waiters' | 'names'

export const growths: readonly Growth[] = ['leases', 'processes', 'waiters', 'names']

export type CommandLine = ReturnType<typeof readCommandLine>

/** As the other pages about the cost of holding have it: three heartbeats fit into the ttl. */
const INTERVAL = 0.3

/** Durations are milliseconds. Throws an error that says which argument is wrong. */
export function readCommandLine() {
  const { values } = parseArgs({
    options: {
      store: { type: 'string', default: 'redis' },
      leases: { type: 'string', default: '10000' },
      processes: { type: 'string', default: '8' },
      minutes: { type: 'string', default: '1' },
      ttl: { type: 'string', default: '120' },
      kill: { type: 'boolean', default: false },
      growth: { type: 'string' },
      write: { type: 'boolean', default: false },
    },
  })
  const store = kinds.find((kind) => kind === values.store)
  if (store === undefined) throw new Error(`--store must be one of ${kinds.join(', ')}, not ${values.store}`)
  const ttl = positive('ttl', values.ttl) * 1_000
  const asked = values.growth === 'all' ? growths : (values.growth?.split(',') ?? [])
  return {
    store,
    leases: positive('leases', values.leases),
    processes: positive('processes', values.processes),
    minutes: positive('minutes', values.minutes),
    ttl,
    interval: ttl * INTERVAL,
    isKilled: values.kill,
    /** What grows; empty: leases are held once. */
    growth: asked.map((name) => {
      const growth = growths.find((known) => known === name)
      if (growth === undefined) throw new Error(`--growth must be all, or some of ${growths.join(',')}, not ${name}`)
      return growth
    }),
    writes: values.write,
  }
}

function positive(name: string, text: string): number {
  const value = Number(text)
  if (!(value > 0 && Number.isFinite(value))) throw new Error(`--${name} must be a number above 0, not ${text}`)
  return value
}
