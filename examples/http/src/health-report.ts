// #region health
import { healthOf } from '@leasehold/core'
import type { Parts } from './parts.js'

/** For a health route: the status, and why. It asks no store, and a follower is as healthy as a leader. */
export function healthReport({ schedule, election }: Parts) {
  const body = { schedule: healthOf(schedule), election: healthOf(election) }
  const isHealthy = body.schedule.healthy && body.election.healthy
  return { status: isHealthy ? (200 as const) : (503 as const), body }
}
// #endregion health
