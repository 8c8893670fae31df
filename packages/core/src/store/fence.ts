import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { LeaseLostError } from '../errors/lease-lost-error.js'
import { shownValue } from '../shown-value.js'

/**
 * The fencing token as a bigint. Throws a `LeaseConfigurationError` unless it is a bigint of 0 or more, or the text of its
 * decimal digits. For fencing guards: call it first, and use its result.
 */
export function checkFencingToken(token: unknown, details: LeaseErrorDetails = {}): bigint {
  if (typeof token === 'bigint' && token >= 0n) return token
  if (typeof token === 'string' && /^\d+$/.test(token)) return BigInt(token)
  const message = `fencingToken must be a bigint of 0 or more, or the text of its digits, not ${shownValue(token)}`
  throw new LeaseConfigurationError(message, details)
}

/**
 * The rule of every fencing guard: throws a `LeaseLostError` if the resource has seen a larger token than this one. `seen`
 * is the largest token so far; `undefined` if there was none. Throws a `LeaseConfigurationError` if `seen` is a text that is
 * not a token.
 */
export function checkFence(
  resource: string,
  token: bigint | string,
  seen: bigint | string | undefined,
  store: string,
): void {
  const own = checkFencingToken(token, { leaseName: resource, store })
  if (seen === undefined) return
  if (typeof seen === 'string' && !/^\d+$/.test(seen)) {
    throw new LeaseConfigurationError(
      `the fencing token that is stored with '${resource}' is not a number: ${seen}. Repair or remove it`,
      { leaseName: resource, store },
    )
  }
  if (own < BigInt(seen)) throw fenced(resource, own, seen, store)
}

/** The error of a fencing guard, for one that compares tokens elsewhere, such as in a script on the server. */
export function fenced(resource: string, token: bigint | string, seen: bigint | string, store: string): LeaseLostError {
  return new LeaseLostError(
    `the fencing token ${token} for '${resource}' is older than ${seen}, which was seen already: another holder has the ` +
      'lease now',
    { leaseName: resource, store, reason: 'taken' },
  )
}
