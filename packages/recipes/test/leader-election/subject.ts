import { LeaderElection } from '@leasehold/recipes'
import type { ElectionLawOptions, ElectionUnderLaw, RecipeSubject } from '@leasehold/testkit/recipes'

/** The election, for its laws. */
export const leaderElection: Omit<RecipeSubject<ElectionUnderLaw, ElectionLawOptions>, 'store'> = {
  name: 'LeaderElection',
  create: ({ store, name, leaseOptions }, options) => new LeaderElection(store, { name, ...leaseOptions, ...options }),
}
