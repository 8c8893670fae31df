import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import { LeaseError, type LeaseErrorDetails } from '../errors/lease-error.js'
import { LeaseLostError } from '../errors/lease-lost-error.js'
import { LeaseTimeoutError } from '../errors/lease-timeout-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import { reasonOf } from '../errors/shown-value.js'
import type { LeaseRules } from './lease-rules.js'

/** The failure of a call that did not answer within its time limit. */
export function timedOut(rules: LeaseRules, method: string, limit: number): LeaseTimeoutError {
  return new LeaseTimeoutError(
    `${method} of lease '${rules.name}' did not answer within ${Math.round(limit)} ms; whether it took effect is ` +
      'unknown: try again, or raise operationTimeout if the store is slow',
    detailsOf(rules),
  )
}

/** Returns a LeaseError as it is. Wraps any other error of a store in a `LeaseUnavailableError`. */
export function toLeaseError(rules: LeaseRules, method: string, error: unknown): LeaseError {
  if (error instanceof LeaseError) return error
  return new LeaseUnavailableError(`${method} of lease '${rules.name}' failed: ${reasonOf(error)}`, {
    ...detailsOf(rules),
    cause: error,
  })
}

/** The failure of a call to a store whose answer is not valid. */
export function invalidAnswer(rules: LeaseRules, method: string, fault: string): LeaseUnavailableError {
  return new LeaseUnavailableError(
    `${method} of lease '${rules.name}': the ${rules.kind} store answered something that is not valid: ${fault}; whether ` +
      'the operation took effect is unknown. This is a fault of the store: check it with the laws of the test kit',
    detailsOf(rules),
  )
}

/** The error of a lease whose keeper has ended. The store was open in the keeper's thread, so the lease cannot go on. */
export function keeperEnded(rules: LeaseRules, cause: unknown): LeaseUnavailableError {
  return new LeaseUnavailableError(
    `lease '${rules.name}': ${reasonOf(cause)}. Acquire it again: that starts a new thread`,
    { ...detailsOf(rules), cause },
  )
}

export function storeClosed(rules: LeaseRules): LeaseUnavailableError {
  return new LeaseUnavailableError(
    `the ${rules.kind} store of lease '${rules.name}' is closed: make a lease over an open one`,
    detailsOf(rules),
  )
}

export function leaseClosed(rules: LeaseRules): LeaseUnavailableError {
  return new LeaseUnavailableError(`lease '${rules.name}' is closed`, detailsOf(rules))
}

export function clockWithoutTime(rules: LeaseRules): LeaseConfigurationError {
  return new LeaseConfigurationError(
    `lease '${rules.name}' cannot be acquired: its clock returns no time; see the error that was reported`,
    detailsOf(rules),
  )
}

/** The failure of an attempt whose parent was lost, or released, meanwhile. */
export function parentLost(rules: LeaseRules): LeaseLostError {
  return new LeaseLostError(
    `lease '${rules.name}' was not acquired: its parent is not held any more. Acquire the parent, then try again`,
    { ...detailsOf(rules), reason: 'parent-lost' },
  )
}

/** The pause that the store asked for with this error, in milliseconds; 0 if it asked for none. */
export function askedPause(error: unknown): number {
  const asked = error instanceof LeaseUnavailableError ? error.retryAfter : undefined
  return asked !== undefined && asked > 0 ? asked : 0
}

export function detailsOf(rules: LeaseRules): { leaseName: string; owner: string; store: string } {
  return { leaseName: rules.name, owner: rules.owner, store: rules.kind }
}

/** The failure of an attempt that an earlier grant of the same lease blocks, until that grant is taken back or expires. */
export function ownLeftover(rules: LeaseRules): LeaseUnavailableError {
  return new LeaseUnavailableError(
    `lease '${rules.name}' is still held by an earlier grant of this owner that the store has not let go yet; try again`,
    detailsOf(rules),
  )
}

/** The failure of a hand-off of a lease that is not held. */
export function nothingHeld(details: LeaseErrorDetails): LeaseConflictError {
  return new LeaseConflictError(`lease '${details.leaseName}' is not held: nothing to hand off`, details)
}

/** The failure of an adoption whose hand-off does not bear the token of the record. */
export function forgedHandOff(rules: LeaseRules, claimed: bigint, granted: bigint | undefined): LeaseConflictError {
  return new LeaseConflictError(
    `the hand-off of lease '${rules.name}' bears the fencing token ${claimed}, but the store granted the smaller ${granted} ` +
      'after it: the hand-off was changed on its way, so the lease is given back. Protect the way of hand-offs, and do not ' +
      'use this token',
    detailsOf(rules),
  )
}

/** The failure of an adoption by a lease that is not idle. */
export function notIdle(state: string, details: LeaseErrorDetails): LeaseConflictError {
  return new LeaseConflictError(`lease '${details.leaseName}' is ${state}: adopt needs an idle one`, details)
}
