import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { leaderElectionLaws } from '../laws/leader-election.js'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { leaderElection } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...leaderElection, store }, leaderElectionLaws)
