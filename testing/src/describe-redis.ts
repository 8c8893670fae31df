import { describe } from 'vitest'
import { whyNoRedis } from './redis-binary.js'

/**
 * Tests that start real servers, in hooks or in the tests themselves: skipped, with the reason in their name, where there
 * is no `redis-server`.
 */
export function describeRedis(title: string, tests: () => void): void {
  describe.skipIf(whyNoRedis !== undefined)(whyNoRedis === undefined ? title : `${title}: ${whyNoRedis}`, tests)
}
