import { LeaseError, type LeaseErrorDetails } from './lease-error.js'

/** Someone else holds the name. Definitive: nothing of theirs was touched. */
export class LeaseHeldError extends LeaseError {
  override readonly name = 'LeaseHeldError'
  override readonly code = 'held'
  /** The owner that holds the name, where the store knows it. */
  readonly holder: string | undefined
  /**
   * The least `wait`, in milliseconds, if the attempt was too short for this store to tell a dead holder from a live one. It
   * is enough for a holder with the ttl of this lease.
   */
  readonly leastWait: number | undefined

  constructor(
    message: string,
    details: LeaseErrorDetails & { readonly holder?: string; readonly leastWait?: number } = {},
  ) {
    super(message, details)
    this.holder = details.holder
    this.leastWait = details.leastWait
  }
}
