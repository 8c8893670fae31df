import { LeaseError } from './lease-error.js'

/** The store refused the credentials or the permission. Definitive: trying again does not help. */
export class LeaseUnauthorisedError extends LeaseError {
  override readonly name = 'LeaseUnauthorisedError'
  override readonly code = 'unauthorised'
}
