import { LeaderElection } from '@leasehold/recipes'
import type { ElectionLawOptions, ElectionUnderLaw } from '../laws/leader-election.js'
import type { RecipeSubject } from '../laws/recipe-trial.js'

/** The election, for its laws. */
export const leaderElection: Omit<RecipeSubject<ElectionUnderLaw, ElectionLawOptions>, 'store'> = {
  name: 'LeaderElection',
  create: ({ store, name, leaseOptions }, options) => new LeaderElection(store, { name, ...leaseOptions, ...options }),
}
