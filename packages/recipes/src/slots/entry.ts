import { LeaseError, type LeaseErrorCode, type StoreLease } from '@leasehold/core'

/** The parameters of an attempt to enter, for one or more callers of `acquire`. */
export interface EntryRequest {
  /** Aborted when no caller wants the outcome any more. */
  readonly signal: AbortSignal
  /** Whether a caller waits; if none does, the attempt is made once. */
  readonly isPatient: boolean
  /** For how long the callers still wait, in milliseconds. */
  readonly wait: number
  /** For the record of the slot. */
  readonly metadata: Readonly<Record<string, string>> | undefined
}

/** The result of an attempt: the lease that is the claim, and its fencing token. */
export interface Entry {
  readonly lease: StoreLease
  /** The token of the turnstile: larger for every later entry, whichever slot it is for. */
  readonly fencingToken: bigint
  readonly slot?: number
  /** Settles when the turnstile is left. Never rejects. */
  readonly left?: Promise<unknown>
}

/** The failures after which an attempt that waits is made again. */
const transient: ReadonlySet<LeaseErrorCode> = new Set(['timeout', 'unavailable', 'lost'])

/** Whether an attempt that waits is made again after this failure. */
export function isTransient(failure: unknown): boolean {
  return failure instanceof LeaseError && transient.has(failure.code)
}
