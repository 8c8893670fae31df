import { describeUnless } from './describe-unless.js'
import { whyNoRedis } from './redis-binary.js'

/** Tests that start real servers, in hooks or in the tests themselves: skipped where there is no `redis-server`. */
export function describeRedis(title: string, tests: () => void): void {
  describeUnless(whyNoRedis, title, tests)
}
