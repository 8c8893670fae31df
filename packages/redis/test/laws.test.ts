import { redisProgram } from '@leasehold/testing/redis-program'
import { describeServerLaws } from './support/describe-server-laws.js'
import { serverLibraries } from './support/libraries.js'

describeServerLaws(redisProgram, serverLibraries)
