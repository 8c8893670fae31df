import { leaseManagerLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { managerUnderLaw } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...managerUnderLaw, store }, leaseManagerLaws)
