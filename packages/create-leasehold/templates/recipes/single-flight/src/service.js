// @ts-check
/** @import { Service, ServiceParts } from './contract.js' */
import { SingleFlight } from '@leasehold/recipes'

/** How long a stop waits for the work, in milliseconds. Docker kills a process 10 s after SIGTERM, Kubernetes after 30 s. */
const stopTimeout = 8_000

/** For how long the rates are new, in milliseconds. */
const freshFor = 5_000

/** For how much longer the processes use the old ones, while one process loads new ones. */
const staleFor = 60_000

/**
 * A value that expires: rates, an access token, a report. One process loads it, and all of them get it.
 *
 * @param {ServiceParts} parts
 * @returns {Service}
 */
export function startService({ store, save, pause, print, report, lease, now }) {
  const flight = new SingleFlight(store, {
    ...lease,
    ...(now === undefined ? {} : { now }),
    name: 'my-service',
    stopTimeout,
  })
  const { closed } = flight

  /** @param {import('@leasehold/recipes').Refreshing<{ version: number }>} refreshing */
  async function load({ signal, fencingToken, previous }) {
    const version = (previous?.version ?? 0) + 1
    // Replace this by your request. Pass the signal to whatever takes time, and the token with each write.
    await pause(500, { signal })
    await save('rates', `version ${version}`, { signal, fencingToken })
    print(`loaded version ${version} for all processes, with the fencing token ${fencingToken}`)
    return { version }
  }

  async function useRates() {
    let shown = 0
    while (!closed.aborted) {
      try {
        const { version } = await flight.get('rates', load, { freshFor, staleFor, signal: closed })
        if (version !== shown) print(`uses version ${version}`)
        shown = version
        await pause(1_000, { signal: closed })
      } catch (error) {
        if (closed.aborted) return
        report(error)
        await pause(5_000, { signal: closed }).catch(() => {})
      }
    }
  }

  const using = useRates()
  return {
    // A restart does not bring a value that cannot be loaded.
    health: () => ({ healthy: true, reason: undefined, details: {} }),
    stop: async () => {
      await flight.stop()
      await using
    },
  }
}
