// @ts-check
/** @import { Service, ServiceParts } from './contract.js' */
import { Semaphore } from '@leasehold/recipes'

/** How long a stop waits for the work, in milliseconds. Docker kills a process 10 s after SIGTERM, Kubernetes after 30 s. */
const stopTimeout = 8_000

/** How many jobs run at a time, in all processes together. */
export const permits = 2

/** How many jobs each process would like to run at a time. */
const workers = 2

/**
 * Jobs that share something of which there is little, such as the connections to an old system.
 *
 * @param {ServiceParts} parts
 * @returns {Service}
 */
export function startService({ store, save, pause, print, report, lease }) {
  const semaphore = new Semaphore(store, { ...lease, name: 'my-service', permits, stopTimeout })
  const { closed } = semaphore
  let jobs = 0

  /** @param {import('@leasehold/recipes').PermitHeld} held */
  async function doJob({ slot, signal, fencingToken }) {
    if (fencingToken === undefined) throw new Error('this store has no fencing tokens')
    jobs += 1
    const job = jobs
    // Replace this by your job. Pass the signal to whatever takes time, and the token with each write.
    await save(`slot-${slot}`, `job ${job} has begun`, { signal, fencingToken })
    print(`job ${job} has permit ${slot + 1} of ${permits}, with the fencing token ${fencingToken}`)
    await pause(2_000, { signal })
    await save(`slot-${slot}`, `job ${job} is done`, { signal, fencingToken })
  }

  async function work() {
    while (!closed.aborted) {
      try {
        await semaphore.run(doJob, { wait: Number.POSITIVE_INFINITY, signal: closed })
      } catch (error) {
        if (closed.aborted) return
        report(error)
        // Then the next job.
        await pause(5_000, { signal: closed }).catch(() => {})
      }
    }
  }

  print(`This process runs jobs, at most ${permits} at a time in all processes together.`)
  const working = Array.from({ length: workers }, work)
  return {
    // A process whose jobs wait for a permit is healthy: a restart would change nothing.
    health: () => ({ healthy: true, reason: undefined, details: {} }),
    stop: async () => {
      await semaphore.stop()
      await Promise.all(working)
    },
  }
}
