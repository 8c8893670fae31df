import { onceLaws } from '@leasehold/testkit/recipes'
import { describeRecipeLaws } from '@leasehold/testkit/vitest'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { once } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...once, store }, onceLaws)
