import { LeaseError, type LeaseErrorDetails } from './lease-error.js'

/** Someone else holds the name. Definitive: nothing of theirs was touched. */
export class LeaseHeldError extends LeaseError {
  override readonly name = 'LeaseHeldError'
  override readonly code = 'held'
  /** The owner that holds the name, where the store knows it. */
  readonly holder: string | undefined

  constructor(message: string, details: LeaseErrorDetails & { readonly holder?: string } = {}) {
    super(message, details)
    this.holder = details.holder
  }
}
