import { semaphoreLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { semaphore } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...semaphore, store }, semaphoreLaws)
