// #region example
import type { LeaseStore } from '@leasehold/core'
import { LeaderElection } from '@leasehold/recipes'

/** Every instance calls this. One of them indexes at a time. */
export function startIndexer(store: LeaseStore, index: (term: bigint) => Promise<void>): LeaderElection {
  const election = new LeaderElection(store, {
    name: 'indexer',
    onElected: async ({ term, signal }) => {
      // Send the term with each write, and let the data reject a smaller one.
      while (!signal.aborted) await index(term)
    },
  })
  election.start()
  return election
}
// #endregion example
