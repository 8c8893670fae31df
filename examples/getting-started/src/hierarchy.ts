import { createLease, type LeaseStore, watchParent } from '@leasehold/core'

// #region child
/** One instance leads. Only the leader imports, and another import of the same folder cannot run beside it. */
export async function importAsLeader(store: LeaseStore, folder: string, work: (signal: AbortSignal) => Promise<void>) {
  const leader = createLease(store, 'leader')
  if (!(await leader.acquire())) return 'another instance leads'
  const importing = createLease(store, `import ${folder}`, { parent: leader })
  await importing.run(({ signal }) => work(signal))
  await leader.release()
  return 'imported'
}
// #endregion child

// #region parent-of-others
/** The leader waits for its helpers in other processes: after a release, the name stays locked for 6 s. */
export function createLeader(store: LeaseStore, owner: string) {
  return createLease(store, 'leader', { owner, heartbeatTimeout: 10_000, childGrace: 6_000 })
}
// #endregion parent-of-others

// #region watch-parent
/** A helper in another process. It works on a shard only while this owner leads. */
export function createHelper(store: LeaseStore, shard: string, leader: string) {
  const parent = watchParent(store, 'leader', leader)
  return createLease(store, `shard ${shard}`, { heartbeatTimeout: 10_000, parent })
}
// #endregion watch-parent
