import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { leaseManagerLaws } from '../laws/lease-manager.js'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { managerUnderLaw } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...managerUnderLaw, store }, leaseManagerLaws)
