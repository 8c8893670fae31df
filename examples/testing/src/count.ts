// #region run
import type { StoreLease } from '@leasehold/core'
import type { Counter } from './counter.js'

/** A lease whose runs have fencing tokens: `createLease` makes one, and a `TestLease` is one. */
export type CounterLease = Pick<StoreLease, 'run'>

/** Counts up for as long as this process holds the lease. */
export async function count(lease: CounterLease, counter: Counter, pause: () => Promise<void>): Promise<void> {
  await lease.run(async ({ signal, fencingToken }) => {
    while (!signal.aborted) {
      counter.write(counter.read(fencingToken) + 1, fencingToken)
      await pause()
    }
  })
}
// #endregion run
