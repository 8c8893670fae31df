import type { StackFrame } from '@leasehold/recorder/internal'

/** The causes of a loss that `explain` can name. */
export type Cause =
  | 'busy-loop'
  | 'collection'
  | 'stopped'
  | 'synchronous-wait'
  | 'suspended'
  | 'cut'
  | 'slow-store'
  | 'store-clock-step'
  | 'record-gone'
  | 'break'
  | 'store-failover'
  | 'credentials'
  | 'crash'
  | 'shared-owner'
  | 'taken'
  | 'max-hold'
  | 'parent-lost'
  | 'unresponsive'
  | 'closed'
  | 'unknown'

/**
 * How much of a time without a turn of the event loop a process uses the processor, if it runs code: on a busy machine it gets a
 * part only, and a stopped process gets nothing.
 */
export const BUSY_PART = 0.2

/** Why a lease ended without a release. */
export interface Finding {
  readonly cause: Cause
  /** The end of a sentence: `because …`, without a full stop. */
  readonly because: string
  /** The id of the process that has to be looked at; absent where the store, the network or an operator is the cause. */
  readonly process?: string
  /** The stack that blocked the event loop, the innermost call first. */
  readonly stack?: readonly StackFrame[]
}
