// @ts-check
/** @import { Service, ServiceParts } from './contract.js' */
import { Once } from '@leasehold/recipes'

/** How long a stop waits for the work, in milliseconds. Docker kills a process 10 s after SIGTERM, Kubernetes after 30 s. */
const stopTimeout = 8_000

/** The name of the work. Another name is another work: `import-2`. */
const work = 'import-1'

const steps = 20

/**
 * A work that is done once, however many processes start: an import, a migration. The others wait for its outcome.
 *
 * @param {ServiceParts} parts
 * @returns {Service}
 */
export function startService({ store, save, pause, print, report, lease, now }) {
  const once = new Once(store, { ...lease, ...(now === undefined ? {} : { now }), name: 'my-service', stopTimeout })

  /** @param {import('@leasehold/core').StoreHeld} held */
  async function importAll({ signal, fencingToken }) {
    print(`This process does '${work}', with the fencing token ${fencingToken}.`)
    for (let step = 1; step <= steps; step += 1) {
      // Replace this by your work. Pass the signal to whatever takes time, and the token with each write.
      await save(work, `step ${step}`, { signal, fencingToken })
      print(`saved step ${step} of ${steps}`)
      await pause(1_000, { signal })
    }
    return { steps }
  }

  async function untilDone() {
    while (!once.closed.aborted) {
      try {
        const outcome = await once.run(work, importAll, { wait: Number.POSITIVE_INFINITY })
        print(`'${work}' is done: ${JSON.stringify(outcome)}`)
        return
      } catch (error) {
        if (once.closed.aborted) return
        report(error)
        // Tried again.
        await pause(5_000, { signal: once.closed }).catch(() => {})
      }
    }
  }

  print(`This process waits for '${work}', or does it.`)
  const done = untilDone()
  return {
    // A process that waits is healthy, and so is one whose work is done.
    health: () => ({ healthy: true, reason: undefined, details: {} }),
    stop: async () => {
      await once.stop()
      await done
    },
  }
}
