import { describeUnless } from './describe-unless.js'
import { redisProgram, valkeyProgram, whyNoTls } from './redis-program.js'

/** Tests that start real servers, in hooks or in the tests themselves: skipped where there is no `redis-server`. */
export function describeRedis(title: string, tests: () => void): void {
  describeUnless(redisProgram.whyNot, title, tests)
}

/** Tests that start real servers with TLS: skipped where there is no `redis-server` that is built with it. */
export function describeRedisTls(title: string, tests: () => void): void {
  describeUnless(whyNoTls(redisProgram), title, tests)
}

/** Tests that start real servers: skipped where there is no `valkey-server`. */
export function describeValkey(title: string, tests: () => void): void {
  describeUnless(valkeyProgram.whyNot, title, tests)
}
