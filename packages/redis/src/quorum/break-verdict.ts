import { LeaseConflictError } from '@leasehold/core'
import type { Tally } from './tally.js'
import { KIND, type Question, undecided } from './undecided.js'

/** Of one server: the milliseconds until it is free, or that there was nothing to break. */
export type Broken = { readonly remaining: number } | 'nothing'

/**
 * Broken where a majority no longer has the lease: its holder finds no majority for a heartbeat. The name is free when a
 * majority is.
 */
export function breakVerdict(question: Question, tally: Tally<Broken>): { remaining: number } | undefined {
  const { values, majority } = tally
  const broken = values.filter((value) => value !== 'nothing')
  if (broken.length < majority) {
    if (!tally.isFinal && !tally.isLate) return undefined
    if (values.length < majority) throw undecided(question, tally)
    if (broken.length === 0) throw nothingToBreak(question.leaseName)
  }
  const times = values.map((value) => (value === 'nothing' ? 0 : value.remaining))
  return { remaining: times.toSorted((one, other) => one - other)[majority - 1] ?? 0 }
}

function nothingToBreak(leaseName: string): LeaseConflictError {
  return new LeaseConflictError(`nobody holds '${leaseName}': there is nothing to break`, { leaseName, store: KIND })
}
