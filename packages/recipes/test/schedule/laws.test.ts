import { scheduleLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { scheduleOn } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws(scheduleOn(store), scheduleLaws)
