// #region schedule
import type { LeaseStore } from '@leasehold/core'
import { LeaseCoordinator } from '@leasehold/node-cron'
import cron from 'node-cron'

/** Every instance calls this. At each tick, one of them writes the report. */
export function scheduleReport(store: LeaseStore, expression: string, write: (due: Date) => Promise<void>) {
  const coordinator = new LeaseCoordinator(store)
  cron.setRunCoordinator(coordinator)
  cron.schedule(expression, ({ date }) => write(date), {
    name: 'report',
    distributed: true,
    distributedLease: 2_000,
  })
  return coordinator
}
// #endregion schedule
