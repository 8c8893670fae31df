import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { scheduleLaws } from '../laws/schedule.js'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { schedule } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...schedule, store }, scheduleLaws)
