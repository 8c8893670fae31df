// #region nightly
import type { LeaseStore } from '@leasehold/core'
import { Schedule } from '@leasehold/recipes'

/** Every instance calls this. At three at night, one of them cleans up; after an outage, it does so late. */
export function cleanUpNightly(store: LeaseStore, cleanUp: (signal: AbortSignal) => Promise<void>) {
  const schedule = new Schedule(store, {
    name: 'clean-up',
    cron: '0 3 * * *',
    missed: 'run-once',
    work: ({ signal }) => cleanUp(signal),
  })
  schedule.start()
  return schedule
}
// #endregion nightly
