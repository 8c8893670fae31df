// #region schedule
import type { LeaseStore } from '@leasehold/core'
import { Schedule } from '@leasehold/recipes'

/** Every instance calls this. At half past two in Berlin, one of them cleans up. */
export function cleanUpAtNight(store: LeaseStore, cleanUp: (signal: AbortSignal) => Promise<void>) {
  const schedule = new Schedule(store, {
    name: 'clean-up',
    cron: '30 2 * * *',
    timeZone: 'Europe/Berlin',
    work: ({ signal }) => cleanUp(signal),
  })
  schedule.start()
  return schedule
}
// #endregion schedule
