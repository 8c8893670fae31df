// @ts-check
/** @import { Service, ServiceParts } from './contract.js' */
import { healthOf } from '@leasehold/core'
import { Schedule } from '@leasehold/recipes'

/** How long a stop waits for the work, in milliseconds. Docker kills a process 10 s after SIGTERM, Kubernetes after 30 s. */
const stopTimeout = 8_000

/**
 * A job that runs at its times. Each time, one of the processes runs it.
 *
 * @param {ServiceParts} parts
 * @returns {Service}
 */
export function startService({ store, save, print, report, lease, now }) {
  const schedule = new Schedule(store, {
    ...lease,
    ...(now === undefined ? {} : { now }),
    name: 'my-service',
    stopTimeout,
    // Or a cron expression: cron: '30 2 * * *', timeZone: 'Europe/Berlin'
    every: 5_000,
    work: async ({ due, signal, fencingToken }) => {
      // Replace this by your job. Pass the signal to whatever takes time, and the token with each write.
      await save('report', `the report of ${due.toISOString()}`, { signal, fencingToken })
      print(`saved the report of ${due.toISOString()}, with the fencing token ${fencingToken}`)
    },
  })
  // The job has failed, or the store has refused. The schedule goes on.
  schedule.on('error', report)
  schedule.start()
  print('This process runs the job each 5 s, unless another one does.')
  return { health: () => healthOf(schedule), stop: () => schedule.stop() }
}
