import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { shownValue } from '../errors/shown-value.js'

/**
 * Throws a `LeaseConfigurationError` if the work that a user passes is not a function, but a promise for example. It is
 * called before anything is acquired for the work. `what`: the words for the work in the error, such as `the work of run`.
 */
export function checkWork(what: string, work: unknown, details: LeaseErrorDetails): void {
  if (typeof work === 'function') return
  const message = `${what} must be a function, such as async (held) => …, not ${shownValue(work)}`
  throw new LeaseConfigurationError(message, details)
}
