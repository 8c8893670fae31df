import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { readWriteLaws } from '../laws/read-write.js'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { readWriteLease } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...readWriteLease, store }, readWriteLaws)
