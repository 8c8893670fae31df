import type { LeaseLostReason } from '../lease-lost.js'
import type { HeartbeatPlan } from '../renewal/renewal-strategy.js'
import type { Grant, LeaseRecord } from '../store/lease-record.js'
import type { AcquireOutcome, ReleaseOutcome, RenewOutcome } from '../store/lease-store.js'
import type { HandOffTarget } from './engine-state.js'

/** What time and chance it is: the transition function itself reads neither a clock nor a random number. */
export interface Circumstances {
  readonly now: number
  /** How much suspended time the clock has counted; 0 where it cannot tell. */
  readonly suspended: number
  /** From 0 to 1. */
  readonly random: number
}

/** What happens to a lease. Answers and failures bear the number of the call they are for. */
export type EngineEvent = AskedEvent | AnswerEvent | PassedEvent

/** Asked by whoever uses the lease. */
type AskedEvent =
  | {
      readonly type: 'acquire'
      readonly grantId: string
      readonly queue: boolean
      readonly adopted?: Grant | undefined
    }
  /** One more caller shares the attempt, and would wait in the queue. */
  | { readonly type: 'queue' }
  /** Nobody waits for the attempt any more. */
  | { readonly type: 'cancel' }
  | { readonly type: 'release' }
  | { readonly type: 'hand-off'; readonly to: HandOffTarget }
  /** The store was closed: it answers nothing any more. */
  | { readonly type: 'store-closed'; readonly error: unknown }
  /** The grant is to end without a release. */
  | { readonly type: 'end'; readonly reason: LeaseLostReason }

/** Said by the store. */
export type AnswerEvent =
  | { readonly type: 'acquire-answer'; readonly op: number; readonly outcome: AcquireOutcome }
  | { readonly type: 'read-answer'; readonly op: number; readonly record: LeaseRecord | undefined }
  | { readonly type: 'renew-answer'; readonly op: number; readonly outcome: RenewOutcome }
  | { readonly type: 'release-answer'; readonly op: number; readonly outcome: ReleaseOutcome }
  /** `definitive`: it certainly had no effect, and repeating it is of no use. */
  | { readonly type: 'failure'; readonly op: number; readonly error: unknown; readonly definitive: boolean }

/** Told by the timer or the watch. */
type PassedEvent =
  | { readonly type: 'tick' }
  /** When the heartbeat after the last confirmed request is due. */
  | { readonly type: 'plan'; readonly plan: HeartbeatPlan }
  /** The time limit of a release begins. */
  | { readonly type: 'limit' }
  /** The store saw the record of our grant changed by somebody else. */
  | { readonly type: 'changed' }
  /** The store woke us: it may be our turn. `holder`: it is not yet, for the store saw the name held just now. */
  | { readonly type: 'turn'; readonly holder?: LeaseRecord | undefined }
