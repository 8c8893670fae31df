// #region example
import type { LeaseStore } from '@leasehold/core'
import { LeaseCoordinator } from '@leasehold/node-cron'
import cron from 'node-cron'

/** Every instance calls this. Each night, one of them writes the report. */
export function reportNightly(store: LeaseStore, writeReport: (due: Date) => Promise<void>) {
  // Before the tasks: node-cron reads it when a task is made.
  cron.setRunCoordinator(new LeaseCoordinator(store))
  const options = { name: 'report', distributed: true, timezone: 'Europe/Berlin' }
  return cron.schedule('0 3 * * *', ({ date }) => writeReport(date), options)
}
// #endregion example
