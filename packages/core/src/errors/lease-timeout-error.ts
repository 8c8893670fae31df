import { LeaseError } from './lease-error.js'

/**
 * The operation did not answer within its time limit: whether it took effect is unknown.
 * Try again; the engine frees, in the background, a grant that was made after all.
 */
export class LeaseTimeoutError extends LeaseError {
  override readonly name = 'LeaseTimeoutError'
  override readonly code = 'timeout'
}
