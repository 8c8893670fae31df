// #region controller
import type { LeaseStore } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'

/** Every instance calls this. The leader runs the controller until its signal aborts. */
export function startController(store: LeaseStore, pod: string, run: (signal: AbortSignal) => Promise<void>) {
  const election = new LeaderElection(store, {
    name: 'my-controller',
    owner: pod,
    heartbeatTimeout: 15_000,
    heartbeatInterval: 2_000,
    onElected: ({ signal }) => run(signal),
  })
  election.start()
  return election
}
// #endregion controller
