import type { LeaseLost } from '@leasehold/core'

/** The events of a `LeaderElection`, and their arguments. A term that was `elected` ends as `resigned` or as `lost`. */
export interface LeaderEvents {
  elected: [term: bigint]
  /** The term has ended: its work is over, and the lease was released. */
  resigned: [term: bigint]
  /** The lease was lost. Its work may go on until it notices. */
  lost: [term: bigint, lost: LeaseLost]
  /** An error of `onElected` or of a listener, or a failure in the background. */
  error: [error: unknown]
}

export type LeaderListener<E extends keyof LeaderEvents> = (...args: LeaderEvents[E]) => void
