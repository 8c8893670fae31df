import { consulProgram } from './consul-server.js'
import { describeUnless } from './describe-unless.js'

/** Tests that start real servers: skipped where there is no `consul`. */
export function describeConsul(title: string, tests: () => void): void {
  describeUnless(consulProgram.whyNot, title, tests)
}
