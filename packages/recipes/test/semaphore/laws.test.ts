import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { semaphoreLaws } from '../laws/semaphore.js'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { semaphore } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...semaphore, store }, semaphoreLaws)
