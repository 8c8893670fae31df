import type { LeaseLost } from '@leasehold/core'

/** The events of a `LeaseManager`, and their arguments. */
export interface LeaseManagerEvents {
  /** A lease was lost: once for each grant. */
  lost: [name: string, lost: LeaseLost]
  /** A failure in the background. Without a listener, the logger gets it. */
  error: [error: unknown]
}

export type LeaseManagerListener<E extends keyof LeaseManagerEvents> = (...args: LeaseManagerEvents[E]) => void
