import type { Grant } from '@leasehold/core'

/** A grant of the store, at the instant at which the store makes it. */
export type SeenGrant = Omit<Grant, 'ttl'>

/** A break, at the instant at which the store carries it out. */
export interface SeenBreak {
  readonly name: string
  /** Of the grant that was broken. */
  readonly fencingToken: bigint
  /** In milliseconds. `undefined`: the time left of the ttl. */
  readonly period: number | undefined
}
