import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { onceLaws } from '../laws/once.js'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { once } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...once, store }, onceLaws)
