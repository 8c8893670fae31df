import { valkeyProgram } from '@leasehold/testing/redis-program'
import { describeServerLaws } from './support/describe-server-laws.js'

describeServerLaws(valkeyProgram)
