import { LeaseError } from './lease-error.js'

/**
 * The store could not be reached, is closed, or failed: whether the operation took effect is unknown.
 * Transient: the engine retries such failures of heartbeats inside the remaining validity.
 */
export class LeaseUnavailableError extends LeaseError {
  override readonly name = 'LeaseUnavailableError'
  override readonly code = 'unavailable'
}
