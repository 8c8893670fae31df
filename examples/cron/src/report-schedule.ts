// #region schedule
import type { LeaseStore } from '@leasehold/core'
import { Schedule } from '@leasehold/recipes'

/** Every instance calls this. At each tick, one of them writes the report. */
export function scheduleReport(
  store: LeaseStore,
  cron: string,
  write: (due: Date, signal: AbortSignal) => Promise<void>,
) {
  const schedule = new Schedule(store, {
    name: 'report',
    cron,
    timeZone: 'Europe/Berlin',
    heartbeatTimeout: 2_000,
    atMostFor: 10 * 60_000,
    work: ({ due, signal }) => write(due, signal),
  })
  schedule.start()
  return schedule
}
// #endregion schedule
