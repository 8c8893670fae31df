import { partitionGroupLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { partitionGroup } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...partitionGroup, store }, partitionGroupLaws)
