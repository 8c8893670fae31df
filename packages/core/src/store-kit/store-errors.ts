import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'

/** Makes the errors for invalid options of this kind of store. A message says what to change. */
export function misconfiguredFor(store: string): (message: string, cause?: unknown) => LeaseConfigurationError {
  return (message, cause) => new LeaseConfigurationError(message, { store, cause })
}

/** The error of each call to a store after its `close`. */
export function closedError(store: string): LeaseUnavailableError {
  return new LeaseUnavailableError(`the ${store} store is closed: open a new one`, { store })
}
