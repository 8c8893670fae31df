import { leaderElectionLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { leaderElection } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...leaderElection, store }, leaderElectionLaws)
