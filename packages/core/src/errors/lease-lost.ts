/**
 * Why a grant ended without a release.
 *
 * - `expired`: no heartbeat was confirmed in time, so the holder's validity ran out
 * - `taken`: the store says that another grant holds the name
 * - `broken`: an operator broke the lease
 * - `deleted`: the record is gone from the store
 * - `suspended`: the machine was suspended (or the VM paused) past the end of the validity
 * - `parent-lost`: the lease that this one stood under was lost
 * - `max-hold`: the grant was held for `maxHold`
 * - `unresponsive`: the main thread did not react for `unresponsiveAfter`, so the heartbeat thread stopped renewing
 * - `closed`: the provider or the store was closed while the lease was held, or the thread of its `selfFence`, or the
 *   heartbeat thread, ended
 */
export type LeaseLostReason =
  | 'expired'
  | 'taken'
  | 'broken'
  | 'deleted'
  | 'suspended'
  | 'parent-lost'
  | 'max-hold'
  | 'unresponsive'
  | 'closed'

/** The report of a loss, given exactly once for each grant. */
export interface LeaseLost {
  readonly reason: LeaseLostReason
  /** The owner that holds the name now, where the store knows it. */
  readonly owner?: string
  /**
   * After a break with a period: until when the name certainly stays locked, in milliseconds on the lease's clock. The work
   * may use this time to end.
   */
  readonly lockedUntil?: number
  /** The last failure of a heartbeat, where one led to the loss. */
  readonly cause?: unknown
}
