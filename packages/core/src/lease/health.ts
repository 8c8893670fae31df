import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { reasonOf, shownText, shownValue } from '../errors/shown-value.js'

/** What a lease or a recipe knows about itself, without asking the store. */
export interface Health {
  readonly healthy: boolean
  /** Why it is unhealthy, as a sentence for people; `undefined` if it is healthy. */
  readonly reason: string | undefined
  /** The facts behind the answer, for a health page or a log. Plain JSON. */
  readonly details: Readonly<Record<string, unknown>>
}

/** In the global registry, so that all copies of this package share it. */
export const health: unique symbol = Symbol.for('@leasehold/core/health')

/** A lease, or a recipe that has a health. */
export interface HealthSubject {
  /** See `healthOf`. */
  [health](): Health
}

/**
 * Whether a lease, an election, a schedule, a lease manager or a partition group does what it should, without I/O. It is
 * unhealthy while work goes on although its lease is not valid any more, while heartbeats fail, or, for a schedule, when a
 * tick was missed. A lease that is not held is healthy, and so is a process that waits for its turn.
 *
 * Throws a `LeaseConfigurationError` for anything else.
 */
export function healthOf(subject: HealthSubject): Health {
  const { [health]: look } = Object(subject) as Partial<HealthSubject>
  if (typeof look === 'function') return look.call(subject)
  throw new LeaseConfigurationError(
    `healthOf takes a lease, a LeaderElection, a Schedule, a LeaseManager or a PartitionGroup, not ${shownValue(subject)}`,
  )
}

export function healthFrom(reason: string | undefined, details: Health['details']): Health {
  return { healthy: reason === undefined, reason, details }
}

/** The facts that decide on the health of a lease. */
export interface LeaseFacts {
  readonly name: string
  /** Whether its grant was neither released nor reported as lost. */
  readonly isHeld: boolean
  readonly isValid: boolean
  /** How many pieces of work go on although the loss of their grant was reported. */
  readonly overdue: number
  /** The last failure of a heartbeat since one was confirmed, during jeopardy. */
  readonly jeopardy?: { readonly cause: unknown; readonly remaining: number } | undefined
}

/** Why a lease is unhealthy; `undefined` if it is healthy. */
export function leaseAilment({ name, isHeld, isValid, overdue, jeopardy }: LeaseFacts): string | undefined {
  const lease = `lease '${shownText(name)}'`
  if (overdue > 0) return `${lease} was lost, and its work goes on: end the work when its signal aborts`
  if (isHeld && !isValid) return `${lease} is not valid any more, and its work may go on: the event loop was blocked`
  if (jeopardy === undefined) return undefined
  const cause = jeopardy.cause === undefined ? 'the last one is late' : reasonOf(jeopardy.cause)
  return `the heartbeats of ${lease} fail (${cause}): it is lost in ${Math.ceil(jeopardy.remaining)} ms unless one succeeds`
}
