import { allOfLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { jointUnderLaw } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...jointUnderLaw, store }, allOfLaws)
