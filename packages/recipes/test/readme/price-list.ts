// #region read-write
import type { LeaseStore } from '@leasehold/core'
import { ReadWriteLease } from '@leasehold/recipes'

/** Many instances read the price list at the same time. The import replaces it alone. */
export function priceList(store: LeaseStore) {
  const prices = new ReadWriteLease(store, { name: 'prices', readers: 20 })
  const wait = 30_000
  return {
    read: <T>(work: (signal: AbortSignal) => Promise<T>) => prices.shared.run(({ signal }) => work(signal), { wait }),
    replace: (work: (signal: AbortSignal, token: bigint | undefined) => Promise<void>) =>
      prices.exclusive.run(({ signal, fencingToken }) => work(signal, fencingToken), { wait }),
  }
}
// #endregion read-write
