import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { lockManagerLaws } from '../laws/lock-manager.js'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { lockManager } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...lockManager, store }, lockManagerLaws)
