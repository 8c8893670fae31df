import { allOfLaws } from '../laws/all-of.js'
import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { jointUnderLaw } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...jointUnderLaw, store }, allOfLaws)
