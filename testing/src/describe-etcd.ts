import { describeUnless } from './describe-unless.js'
import { etcdProgram } from './etcd-server.js'

/** Tests that start real servers: skipped where there is no `etcd`. */
export function describeEtcd(title: string, tests: () => void): void {
  describeUnless(etcdProgram.whyNot, title, tests)
}
