import { LeaseConfigurationError } from './errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from './errors/lease-error.js'
import { shownValue } from './shown-value.js'

/** For guards: throws a `LeaseConfigurationError` unless this is a fencing token, a bigint of 0 or more. */
export function checkFencingToken(token: unknown, details: LeaseErrorDetails = {}): asserts token is bigint {
  if (typeof token === 'bigint' && token >= 0n) return
  throw new LeaseConfigurationError(`fencingToken must be a bigint of 0 or more, not ${shownValue(token)}`, details)
}
