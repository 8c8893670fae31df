// #region start
import type { LeaseStore } from '@leasehold/core'
import { Once } from '@leasehold/recipes'

/** Call this before the server listens. One instance migrates for the release; the others wait for it. */
export async function migrateOnce(store: LeaseStore, release: string, migrate: (signal: AbortSignal) => Promise<void>) {
  const once = new Once(store, { name: 'migrations' })
  await once.run(release, ({ signal }) => migrate(signal), { wait: 10 * 60_000 })
}
// #endregion start
