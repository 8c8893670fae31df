import { valkeyProgram } from '@leasehold/testing/redis-program'
import { describeServerLaws } from './support/describe-server-laws.js'
import { glide, iovalkey } from './support/libraries.js'

describeServerLaws(valkeyProgram, [iovalkey, glide])
