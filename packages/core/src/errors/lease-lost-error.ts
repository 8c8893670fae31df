import type { LeaseLostReason } from '../lease-lost.js'
import { LeaseError, type LeaseErrorDetails } from './lease-error.js'

/** The lease was lost: whoever gets this error no longer holds it and must not act on the resource. */
export class LeaseLostError extends LeaseError {
  override readonly name = 'LeaseLostError'
  override readonly code = 'lost'
  readonly reason: LeaseLostReason

  constructor(message: string, details: LeaseErrorDetails & { readonly reason: LeaseLostReason }) {
    super(message, details)
    this.reason = details.reason
  }
}
