import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { scheduleReport } from './report-schedule.js'

const [folder = ''] = process.argv.slice(2)

/** One instance of the service: it sends the time of each tick that it runs to the process that started it. */
const schedule = scheduleReport(new LocalLeaseStore({ folder }), '* * * * * *', async (due) => {
  process.send?.(due.toISOString())
  // So short a work goes on to its end, also when the process is asked to end.
  await pause(200)
})

// #region stop
process.once('SIGTERM', async () => {
  // The signal of the work in progress aborts. A work that goes on to its end within five seconds is done.
  await schedule.stop({ timeout: 5_000 })
  process.exit()
})
// #endregion stop

// The instance must not outlive the example.
process.once('disconnect', () => process.exit())
