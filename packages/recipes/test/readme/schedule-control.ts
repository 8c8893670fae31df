// #region control
import type { LeaseStore } from '@leasehold/core'
import { ScheduleControl } from '@leasehold/recipes'

/** In a migration, an admin page or a script: any process that reaches the store. Also if it dies, the reports go on at `until`. */
export async function withoutReports<T>(store: LeaseStore, until: Date, migrate: () => Promise<T>): Promise<T> {
  const reports = new ScheduleControl(store, 'report', { owner: 'migration' })
  await reports.pause({ reason: 'the tables are migrated', until })
  try {
    return await migrate()
  } finally {
    await reports.resume()
  }
}

// #endregion control

// #region schedule
import { Schedule } from '@leasehold/recipes'

/** Every instance calls this. */
export function reportHourly(
  store: LeaseStore,
  log: (line: string) => void,
  write: (due: Date, askedBy: string | undefined) => Promise<void>,
) {
  const schedule = new Schedule(store, {
    name: 'report',
    cron: '0 * * * *',
    work: ({ due, byHand }) => write(due, byHand?.by),
  })
  schedule
    .on('paused', ({ by, reason }) => log(`no reports: ${reason} (${by})`))
    .on('resumed', () => log('reports again'))
    .on('ended', ({ outcome, byHand }) => log(byHand ? `by hand for ${byHand.by}: ${outcome}` : outcome))
  schedule.start()
  return schedule
}
// #endregion schedule

// #region wishes
/** The next report is not written, and the one after it is. One report is written now, by one of the instances. */
export async function writeNowInstead(schedule: Schedule, user: string) {
  const { next } = await schedule.read()
  if (next !== undefined) await schedule.skip(next)
  return await schedule.runNow({ by: user })
}
// #endregion wishes
