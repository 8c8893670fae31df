// #region configured
import type { LeaseProvider } from '@leasehold/core'
import { readRecipe, Schedule } from '@leasehold/recipes'

/** The block: reports.nightly { lease-class = "@leasehold/redis", cron = "0 3 * * *", at-most-for = 1h } */
export async function startReports(provider: LeaseProvider, writeReport: (signal: AbortSignal) => Promise<void>) {
  const { store, options } = await readRecipe(provider, 'schedule', 'nightly-report', 'reports.nightly')
  const schedule = new Schedule(store, { ...options, work: ({ signal }) => writeReport(signal) })
  schedule.start()
  return schedule
}
// #endregion configured
