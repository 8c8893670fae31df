import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { partitionGroupLaws } from '../laws/partition-group.js'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { partitionGroup } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...partitionGroup, store }, partitionGroupLaws)
