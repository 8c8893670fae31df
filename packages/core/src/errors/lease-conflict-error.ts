import { LeaseError } from './lease-error.js'

/**
 * The operation is not possible in the state that the record is in, such as breaking a lease that is not held.
 * Definitive: nothing was changed.
 */
export class LeaseConflictError extends LeaseError {
  override readonly name = 'LeaseConflictError'
  override readonly code = 'conflict'
}
