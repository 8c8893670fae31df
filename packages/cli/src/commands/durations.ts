import { durations } from '@leasehold/core'
import type { Action } from '../command-declaration.js'
import type { durations as declaration } from '../declarations.js'
import { durationText } from '../duration-text.js'
import { exitCodes } from '../exit-codes.js'
import { writeTable } from '../table.js'
import { writeJSON } from '../terminal.js'

/** A task whose durations are usual. */
interface UsualDurations {
  /** The name in `durations` of core. */
  readonly name: keyof typeof durations
  readonly use: string
  /** The usual ttls, in milliseconds. */
  readonly shortest: number
  readonly longest: number
  readonly why: string
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

export const usualDurations: readonly UsualDurations[] = [
  {
    name: 'distributedLock',
    use: 'lock',
    shortest: 10 * SECOND,
    longest: 30 * SECOND,
    why: 'a dead holder is noticed soon',
  },
  {
    name: 'leaderElection',
    use: 'leader election',
    shortest: 5 * SECOND,
    longest: 15 * SECOND,
    why: 'a dead leader is replaced soon',
  },
  { name: 'job', use: 'job', shortest: MINUTE, longest: HOUR, why: 'as long as the job' },
  { name: 'session', use: 'session', shortest: 5 * MINUTE, longest: 30 * MINUTE, why: 'ends after the last activity' },
  { name: 'reservation', use: 'reservation', shortest: HOUR, longest: 24 * HOUR, why: 'the business decides' },
  { name: 'cacheEntry', use: 'cache entry', shortest: MINUTE, longest: HOUR, why: 'fresh enough' },
]

export const printDurations: Action<typeof declaration> = async ({ options }, terminal) => {
  if (options.output === 'json') {
    writeJSON(
      terminal,
      usualDurations.map((usual) => ({ ...usual, settings: durations[usual.name] })),
    )
    return exitCodes.ok
  }
  const rows = usualDurations.map(({ name, use, shortest, longest, why }) => [
    name,
    use,
    durationText(durations[name].heartbeatTimeout),
    `${durationText(shortest)} to ${durationText(longest)}`,
    renewalOf(name),
    why,
  ])
  writeTable(terminal, ['NAME', 'USE', 'TTL', 'USUAL TTL', 'RENEWED', 'WHY'], rows)
  return exitCodes.ok
}

/** When the lease is renewed: `at 30 %`, `by hand`. */
function renewalOf(name: keyof typeof durations): string {
  const { strategy } = durations[name]
  if (typeof strategy === 'object') return `at ${Math.round(strategy.renewAt * 100)} %`
  return name === 'cacheEntry' ? 'never' : 'by hand'
}
