import type { AcquireOutcome, Grant, LeaseStore } from '@leasehold/core'

type Needed = 'change' | 'break' | 'renewMany'

/** One of the independent stores whose majority decides: a `RedisLeaseStore`. */
export interface QuorumMember extends Omit<LeaseStore, Needed>, Required<Pick<LeaseStore, Needed>> {
  /** Gives the grant in force a larger fencing token, if it has a smaller one. */
  raise(grant: Grant, fencingToken: bigint, signal: AbortSignal): Promise<AcquireOutcome>
}
