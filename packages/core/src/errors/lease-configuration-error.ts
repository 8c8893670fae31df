import { LeaseError } from './lease-error.js'

/** A setting or an argument is not acceptable; the message says which one to change. Thrown where it is given. */
export class LeaseConfigurationError extends LeaseError {
  override readonly name = 'LeaseConfigurationError'
  override readonly code = 'configuration'
}
