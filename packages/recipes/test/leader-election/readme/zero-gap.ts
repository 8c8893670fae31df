// #region example
import type { LeaseStore } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'

/** Every instance calls this when it starts. */
export function startWriter(
  store: LeaseStore,
  owner: string,
  { warmUp, write }: { warmUp(signal: AbortSignal): Promise<void>; write(term: bigint): Promise<void> },
): LeaderElection {
  const election = new LeaderElection(store, {
    name: 'writer',
    owner,
    // Before this instance is a candidate.
    prepare: (signal) => warmUp(signal),
    onElected: async ({ term, signal }) => {
      while (!signal.aborted) await write(term)
    },
  })
  election.start()
  return election
}

/** On SIGTERM: another instance that is ready leads at once. */
export async function stopWriter(election: LeaderElection): Promise<void> {
  await election.stop({ transfer: 'best' })
}
// #endregion example
