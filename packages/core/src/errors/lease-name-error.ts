import { LeaseError } from './lease-error.js'

/** A lease name or an owner is not acceptable; the message says why. Thrown where it is given. */
export class LeaseNameError extends LeaseError {
  override readonly name = 'LeaseNameError'
  override readonly code = 'name'
}
