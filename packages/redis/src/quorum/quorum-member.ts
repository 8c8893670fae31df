import type { AcquireOutcome, Grant, LeaseRecord, LeaseStore } from '@leasehold/core'
import type { Floor } from '../answers.js'

type Needed = 'change' | 'break' | 'renewMany'

/** One of the independent stores whose majority decides: a `RedisLeaseStore`. */
export interface QuorumMember extends Omit<LeaseStore, Needed>, Required<Pick<LeaseStore, Needed>> {
  /** Gives the grant in force a larger fencing token, if it has a smaller one. */
  raise(grant: Grant, fencingToken: bigint, signal: AbortSignal): Promise<AcquireOutcome>
  /** Gives a grant that a majority has to a member that has lost it, under its fencing token. */
  repair(grant: Grant, metadata: LeaseRecord['metadata'], signal: AbortSignal): Promise<AcquireOutcome>
  /** Without one, a member rejects all that gives a token with a `NoFloorError`. The name is that of the lease that asks. */
  floor(name: string, signal: AbortSignal): Promise<Floor>
  /** Raises the floor, if it is smaller. */
  learn(name: string, floor: bigint, signal: AbortSignal): Promise<void>
}
