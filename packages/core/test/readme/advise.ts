// #region advise
import { adviseDurations } from '@leasehold/core'

/** `roundTrips`: how long calls to the store took, in milliseconds. */
export function durationsFor(roundTrips: readonly number[]) {
  const { kept, reason, ...durations } = adviseDurations({ failover: 5_000, falseLossesPerYear: 1 }, { roundTrips })
  return kept ? durations : reason
}
// #endregion advise
