// The life cycle of a record, for stores that decide in this process: the stores in memory and in a folder.

export { type Decision, LifeCycle, type LifeCycleRules, type NameState } from './life-cycle/life-cycle.js'
export { LifeCycleStore, type LifeCycleStoreOptions } from './life-cycle/life-cycle-store.js'
export { isLockedAt, type StoredLease } from './life-cycle/stored-lease.js'
export type { TurnWatches, TurnWatchesOptions } from './life-cycle/turn-watches.js'
export { type Place, WaitQueue } from './life-cycle/wait-queue.js'
export type { TurnState } from './life-cycle/watched-name.js'
export type { MemoryAcquireRequest } from './memory/memory-lease-store.js'
