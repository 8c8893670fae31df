import type { Operation as QueuedOperation } from '@leasehold/core/store-kit'

/** One operation of `leases_run_1`. */
export interface Query {
  /** For errors. */
  readonly operation: string
  readonly leaseName: string
  /** The name of the operation, and its arguments. */
  readonly call: readonly [string, ...unknown[]]
  /** Whether it is repeated after this answer: another transaction has locked the row. `repeats`: how often it was already. */
  readonly isRepeated?: ((answer: unknown, repeats: number) => boolean) | undefined
  /** Whether it has a call of its own, which waits for locks, after a call for many has left it out. */
  waitsForLocks?: boolean
}

export type Operation = QueuedOperation<Query, unknown>
