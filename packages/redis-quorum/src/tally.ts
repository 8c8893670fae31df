import { type LeaseError, LeaseUnavailableError } from '@leasehold/core'
import { isDefinitive } from '@leasehold/core/internal'
import { NoFloorError } from '@leasehold/redis/internal'

export const KIND = 'redis-quorum'

/** The answer of one server, or its failure. */
export type Vote<T> = { readonly value: T } | { readonly error: unknown }

/** The votes so far. With an odd number of servers, either a majority can do something, or a majority cannot. */
export class Tally<T> {
  /** By the place of the server; `undefined` if it has not answered yet. */
  readonly votes: (Vote<T> | undefined)[]
  readonly majority: number
  /** Whether a majority has answered, and the grace period for the other servers is over. */
  isLate = false

  constructor(votes: (Vote<T> | undefined)[]) {
    this.votes = votes
    this.majority = Math.floor(votes.length / 2) + 1
  }

  /** Whether all servers have answered or failed. */
  get isFinal(): boolean {
    return !this.votes.includes(undefined)
  }

  /** Whether more votes may come in time. */
  get isOpen(): boolean {
    return !this.isFinal && !this.isLate
  }

  get values(): T[] {
    return this.votes.flatMap((vote) => (vote !== undefined && 'value' in vote ? [vote.value] : []))
  }

  get errors(): unknown[] {
    return this.votes.flatMap((vote) => (vote !== undefined && 'error' in vote ? [vote.error] : []))
  }
}

/** The operation and its lease, for errors. */
export interface Question {
  readonly operation: string
  readonly leaseName: string
}

/** The error if the votes decide nothing: the refusal of a majority, or that the outcome is unknown. */
export function undecided({ operation, leaseName }: Question, tally: Tally<unknown>): LeaseError {
  const { errors, values, votes, majority } = tally
  const definitive = errors.filter(isDefinitive)
  const [refusal] = definitive
  if (refusal !== undefined && definitive.length >= majority) return refusal
  // An operator notices an unreachable server, but not one that has lost its data.
  const cause = errors.find((error) => error instanceof NoFloorError) ?? errors[0]
  const first = cause instanceof Error ? `: ${cause.message}` : ''
  return new LeaseUnavailableError(
    `${operation} of lease '${leaseName}' has no majority: ${values.length} of ${votes.length} servers answered${first}`,
    { leaseName, store: KIND, cause: errors.length === 1 ? errors[0] : new AggregateError(errors, 'no majority') },
  )
}
