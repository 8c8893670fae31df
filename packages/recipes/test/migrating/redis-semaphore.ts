// #region mutex
import { createLease, type LeaseStore } from '@leasehold/core'
import { Semaphore } from '@leasehold/recipes'

/** One process rebuilds the index; the others wait for up to ten seconds. */
export async function rebuild(store: LeaseStore, build: (signal: AbortSignal) => Promise<void>) {
  const lease = createLease(store, 'index', { heartbeatTimeout: 10_000 })
  await lease.run(({ signal }) => build(signal), { wait: 10_000 })
}

/** Three downloads at a time, in all processes together. */
export function downloads(store: LeaseStore) {
  const semaphore = new Semaphore(store, { name: 'downloads', permits: 3, heartbeatTimeout: 10_000 })
  return (download: (signal: AbortSignal) => Promise<void>) =>
    semaphore.run(({ signal }) => download(signal), { wait: 10_000 })
}
// #endregion mutex
