/** An attempt to enter, for one or more callers of `acquire`. */
export interface Attempt {
  /** Aborted when no caller wants the outcome any more. */
  readonly signal: AbortSignal
  /** Whether a caller waits; if none does, the attempt is made once. */
  readonly isPatient: boolean
  /** For how long the callers still wait, in milliseconds. */
  readonly wait: number
  /** For the record of the slot. */
  readonly metadata: Readonly<Record<string, string>> | undefined
}
