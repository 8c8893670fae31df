// #region all-of
import { createLease, type LeaseStore } from '@leasehold/core'
import { AllOf } from '@leasehold/recipes'

/** Moves money under the leases of both accounts: no other transfer has one of them, and no two wait for each other. */
export async function transfer(
  store: LeaseStore,
  from: string,
  to: string,
  move: (signal: AbortSignal, tokens: ReadonlyMap<string, bigint>) => Promise<void>,
) {
  const both = new AllOf([createLease(store, `account/${from}`), createLease(store, `account/${to}`)])
  await both.run(({ signal }) => move(signal, both.fencingTokens), { wait: 30_000 })
}
// #endregion all-of
