import { scheduleLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { schedule } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...schedule, store }, scheduleLaws)
