import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { scheduleReport } from './report-schedule.js'

const [folder = ''] = process.argv.slice(2)

/** One instance of the service: it sends the time of each tick that it runs to the process that started it. */
const schedule = scheduleReport(new LocalLeaseStore({ folder }), '* * * * * *', async (due, signal) => {
  process.send?.(due.toISOString())
  await pause(200, undefined, { signal })
})

// #region stop
process.once('SIGTERM', async () => {
  // The signal of the work in progress aborts, and the work has five seconds to end.
  await schedule.stop({ timeout: 5_000 })
  process.exit()
})
// #endregion stop

// The instance must not outlive the example.
process.once('disconnect', () => process.exit())
