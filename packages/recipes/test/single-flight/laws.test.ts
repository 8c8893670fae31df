import { describeRecipeLaws } from '../laws/describe-recipe-laws.js'
import { singleFlightLaws } from '../laws/single-flight.js'
import { storesInVirtualTime } from '../support/store-subjects.js'
import { singleFlight } from './subject.js'

for (const store of storesInVirtualTime) describeRecipeLaws({ ...singleFlight, store }, singleFlightLaws)
