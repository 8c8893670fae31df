import { readWriteLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { readWriteLease } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...readWriteLease, store }, readWriteLaws)
