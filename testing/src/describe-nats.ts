import { describeUnless } from './describe-unless.js'
import { nats215Program, natsProgram } from './nats-server.js'

/** Tests that start real servers: skipped where there is no `nats-server` 2.10. */
export function describeNats(title: string, tests: () => void): void {
  describeUnless(natsProgram.whyNot, title, tests)
}

/** The same for `nats-server` 2.15. */
export function describeNats215(title: string, tests: () => void): void {
  describeUnless(nats215Program.whyNot, title, tests)
}
