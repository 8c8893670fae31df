import { describe } from 'vitest'
import { etcdProgram } from './etcd-server.js'

/** Tests that start real servers: skipped, with the reason in their name, where there is no `etcd`. */
export function describeEtcd(title: string, tests: () => void): void {
  const { whyNot } = etcdProgram
  describe.skipIf(whyNot !== undefined)(whyNot === undefined ? title : `${title}: ${whyNot}`, tests)
}
