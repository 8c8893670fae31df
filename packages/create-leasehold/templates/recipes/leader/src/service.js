// @ts-check
/** @import { Service, ServiceParts } from './contract.js' */
import { healthOf } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'

/** How long a stop waits for the work, in milliseconds. Docker kills a process 10 s after SIGTERM, Kubernetes after 30 s. */
const stopTimeout = 8_000

/**
 * One process leads at a time: it works until it stops, or loses its lease.
 *
 * @param {ServiceParts} parts
 * @returns {Service}
 */
export function startService({ store, save, pause, print, report, lease }) {
  const election = new LeaderElection(store, {
    ...lease,
    name: 'my-service',
    stopTimeout,
    onElected: async ({ signal, fencingToken }) => {
      print(`This process leads, with the fencing token ${fencingToken}.`)
      for (let round = 1; !signal.aborted; round += 1) {
        // Replace this by the work of your leader. Pass the signal to whatever takes time, and the token with each write.
        await save('report', `round ${round} by ${election.owner}`, { signal, fencingToken })
        print(`saved round ${round}`)
        await pause(1_000, { signal })
      }
    },
  })
  election.on('lost', (_term, { reason }) => print(`The leadership is lost: ${reason}.`))
  // The work has failed, or the store has refused. The election goes on.
  election.on('error', report)
  election.start()
  print(`${election.owner} is ready to lead.`)
  return { health: () => healthOf(election), stop: () => election.stop() }
}
