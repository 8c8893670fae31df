// #region example
import type { EntityState } from '@leasehold/sharding'
import { stateLaws } from '@leasehold/sharding/testing'

/** `open`: a state over the same new, empty place for each call, with a client of its own, as another process has it. */
export function testMyState(test: (title: string, run: () => Promise<void>) => void, open: () => EntityState): void {
  for (const law of stateLaws) test(law.title, () => law.check(open))
}
// #endregion example
