import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { LeaseLostError } from '../errors/lease-lost-error.js'
import { shownValue } from '../shown-value.js'

/** Throws a `LeaseConfigurationError` unless this is a fencing token: a bigint of 0 or more. For fencing guards. */
export function checkFencingToken(token: unknown, details: LeaseErrorDetails = {}): asserts token is bigint {
  if (typeof token === 'bigint' && token >= 0n) return
  throw new LeaseConfigurationError(`fencingToken must be a bigint of 0 or more, not ${shownValue(token)}`, details)
}

/**
 * The rule of every fencing guard: throws a `LeaseLostError` if the resource has seen a larger token than this one. `seen`
 * is the largest token so far; `undefined` if there was none. Throws a `LeaseConfigurationError` if `seen` is a text that is
 * not a token.
 */
export function checkFence(resource: string, token: bigint, seen: bigint | string | undefined, store: string): void {
  if (seen === undefined) return
  if (typeof seen === 'string' && !/^\d+$/.test(seen)) {
    throw new LeaseConfigurationError(
      `the fencing token that is stored with '${resource}' is not a number: ${seen}. Repair or remove it`,
      { leaseName: resource, store },
    )
  }
  if (token < BigInt(seen)) throw fenced(resource, token, seen, store)
}

/** The error of a fencing guard, for one that compares tokens elsewhere, such as in a script on the server. */
export function fenced(resource: string, token: bigint, seen: bigint | string, store: string): LeaseLostError {
  return new LeaseLostError(
    `the fencing token ${token} for '${resource}' is older than ${seen}, which was seen already: another holder has the ` +
      'lease now',
    { leaseName: resource, store, reason: 'taken' },
  )
}
