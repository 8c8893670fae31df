import { describe } from 'vitest'
import { consulProgram } from './consul-server.js'

/** Tests that start real servers: skipped, with the reason in their name, where there is no `consul`. */
export function describeConsul(title: string, tests: () => void): void {
  const { whyNot } = consulProgram
  describe.skipIf(whyNot !== undefined)(whyNot === undefined ? title : `${title}: ${whyNot}`, tests)
}
