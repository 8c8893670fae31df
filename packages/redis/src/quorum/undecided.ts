import { LeaseError, LeaseUnavailableError } from '@leasehold/core'
import { NoFloorError } from '../failure-of.js'
import type { Tally } from './tally.js'

export const KIND = 'redis-quorum'

/** What is asked of the servers, for errors. */
export interface Question {
  readonly operation: string
  readonly leaseName: string
}

/** Whether a server has certainly done nothing, and never will. */
export function isDefinitive(error: unknown): error is LeaseError {
  return error instanceof LeaseError && error.code !== 'timeout' && error.code !== 'unavailable'
}

/** The error for votes that decide nothing: what a majority certainly refuses to do, or that the outcome is unknown. */
export function undecided({ operation, leaseName }: Question, tally: Tally<unknown>): LeaseError {
  const { errors, values, size, majority } = tally
  const definitive = errors.filter(isDefinitive)
  const [told] = definitive
  if (told !== undefined && definitive.length >= majority) return told
  // That a server has lost its data is less obvious than that another one cannot be reached.
  const cause = errors.find((error) => error instanceof NoFloorError) ?? errors[0]
  const first = cause instanceof Error ? `: ${cause.message}` : ''
  return new LeaseUnavailableError(
    `${operation} of lease '${leaseName}' has no majority: ${values.length} of ${size} servers answered${first}`,
    { leaseName, store: KIND, cause: errors.length === 1 ? errors[0] : new AggregateError(errors, 'no majority') },
  )
}

export function closedError(): LeaseUnavailableError {
  return new LeaseUnavailableError('the store is closed: make a new one', { store: KIND })
}
