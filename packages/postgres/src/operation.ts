import type { StoreCall } from '@leasehold/core/store'

/** An operation is repeated after a pause: a row that it needs is locked by another transaction. */
export const LATER = Symbol('later')

/** One operation of `leases_run_1`. */
export interface Request<T> {
  /** For errors. */
  readonly operation: string
  readonly leaseName: string
  /** The name of the operation, and its arguments. */
  readonly call: readonly [string, ...unknown[]]
  /** Whether it has a statement of its own, because it takes longer than others. */
  readonly isLarge?: boolean
  /** `repeats`: how often it was repeated already. */
  readonly toOutcome: (answer: unknown, repeats: number) => T | typeof LATER
}

/** A request in the queue or on its way, until it is settled or its call is aborted. */
export interface Operation<T = unknown> {
  readonly request: Request<T>
  readonly call: StoreCall
  readonly resolve: (outcome: T) => void
  readonly reject: (error: unknown) => void
  /** Whether it has a statement of its own, after a statement with others has failed. */
  isAlone: boolean
  /** Whether it has a call of its own, which waits for locks, after a call for many has left it out. */
  waitsForLocks: boolean
  repeats: number
}
