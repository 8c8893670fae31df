/** The stable, machine-readable name of a kind of failure. One leaf of {@link LeaseError} a code. */
export type LeaseErrorCode =
  | 'held'
  | 'timeout'
  | 'unavailable'
  | 'unauthorised'
  | 'lost'
  | 'conflict'
  | 'configuration'
  | 'name'

/** The lease that an error is about, as far as it is known, and the cause. */
export interface LeaseErrorDetails {
  readonly leaseName?: string
  readonly owner?: string
  /** The kind of store, such as `memory` or `local`. */
  readonly store?: string
  readonly cause?: unknown
}

/** The base of every error that this library throws or rejects with; `code` identifies the kind. */
export abstract class LeaseError extends Error {
  abstract override readonly name: string
  abstract readonly code: LeaseErrorCode
  readonly leaseName: string | undefined
  readonly owner: string | undefined
  readonly store: string | undefined

  constructor(message: string, details: LeaseErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.leaseName = details.leaseName
    this.owner = details.owner
    this.store = details.store
  }
}
