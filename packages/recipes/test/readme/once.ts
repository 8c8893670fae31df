// #region once
import type { LeaseStore } from '@leasehold/core'
import { Once } from '@leasehold/recipes'

/** Every instance calls this at its start. One migrates; the others wait, and get the version that it has migrated to. */
export async function migrate(store: LeaseStore, version: number, migration: (token: bigint) => Promise<void>) {
  await using once = new Once(store, { name: 'migrations' })
  const work = async ({ fencingToken }: { fencingToken: bigint }) => {
    await migration(fencingToken)
    return { version }
  }
  return await once.run(`v${version}`, work, { wait: Number.POSITIVE_INFINITY })
}
// #endregion once
