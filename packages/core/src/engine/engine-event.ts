import type { LeaseLostReason } from '../errors/lease-lost.js'
import type { Grant, LeaseRecord, Metadata } from '../store/lease-record.js'
import type { AcquireOutcome, ReleaseOutcome, RenewOutcome } from '../store/lease-store.js'
import type { HandOffTarget } from './engine-state.js'

/** An event in the life of a lease. Answers and failures bear the number of their call; only `confirmed` needs none. */
export type EngineEvent = AskedEvent | AnswerEvent | PassedEvent

/** The event of this type. */
export type EventOf<T extends EngineEvent['type']> = Extract<EngineEvent, { type: T }>

/** From the user of the lease. */
type AskedEvent =
  | {
      readonly type: 'acquire'
      readonly grantId: string
      readonly queue: boolean
      readonly adopted?: Grant | undefined
      readonly offered?: boolean | undefined
    }
  /** One more caller shares the attempt, and would wait in the queue. */
  | { readonly type: 'queue' }
  /** A caller wants the grant of the holder broken, with at least this notice in milliseconds. */
  | { readonly type: 'preempt'; readonly holder: LeaseRecord; readonly notice: number }
  /** No caller waits for the attempt any more. */
  | { readonly type: 'cancel' }
  /** `hasChildren`: nothing is sent before the event `children-released`. The same for a hand-off. */
  | { readonly type: 'release'; readonly metadata?: Metadata | undefined; readonly hasChildren?: boolean }
  /** The metadata is to be replaced. One update at a time. */
  | { readonly type: 'update'; readonly metadata: Metadata }
  /** The grant is to be renewed now. Shares a heartbeat that is under way. */
  | { readonly type: 'renew' }
  | { readonly type: 'hand-off'; readonly to: HandOffTarget; readonly hasChildren?: boolean }
  /** The children of this grant have been released, or their releases were given up. */
  | { readonly type: 'children-released'; readonly grantId: string | undefined }
  /** The store was closed: it answers nothing any more. `cause`: the failure, if the store was not closed on purpose. */
  | { readonly type: 'store-closed'; readonly error: unknown; readonly cause?: unknown }
  /** The grant is to end without a release. */
  | { readonly type: 'end'; readonly reason: LeaseLostReason }

/** From the store. */
export type AnswerEvent =
  | { readonly type: 'acquire-answer'; readonly op: number; readonly outcome: AcquireOutcome }
  | { readonly type: 'read-answer'; readonly op: number; readonly record: LeaseRecord | undefined }
  | { readonly type: 'renew-answer'; readonly op: number; readonly outcome: RenewOutcome }
  /** The renewal under way succeeded: the engine has compared the number of the call. */
  | { readonly type: 'confirmed' }
  | { readonly type: 'release-answer'; readonly op: number; readonly outcome: ReleaseOutcome }
  /** The grant was broken; `remaining` milliseconds later the name is free. */
  | { readonly type: 'break-answer'; readonly op: number; readonly remaining: number }
  /** `definitive`: it certainly had no effect, and repeating it is of no use. */
  | { readonly type: 'failure'; readonly op: number; readonly error: unknown; readonly definitive: boolean }

/** From the timer or a watch. */
type PassedEvent =
  | { readonly type: 'tick' }
  /** The heartbeat that is due is sent later, because too many others of this process are under way. */
  | { readonly type: 'crowded' }
  /** Another program has changed the record of our grant. */
  | { readonly type: 'changed' }
  /** The store confirmed a heartbeat that the keeper of the grant had sent at `sentAt`. */
  | { readonly type: 'kept'; readonly sentAt: number }
  /** The store has refused the grant to its keeper. */
  | { readonly type: 'kept-refused'; readonly outcome: RenewOutcome }
  /**
   * The store woke us: it may be our turn. `holder`: the store has just seen that the name is still held. `isCrowded`: so
   * many claims of this process are under way that ours should be sent later.
   */
  | { readonly type: 'turn'; readonly holder?: LeaseRecord | undefined; readonly isCrowded?: boolean }

/** The events that consist of their type only: all leases share one object of each. */
export const tick: EngineEvent = { type: 'tick' }
export const crowded: EngineEvent = { type: 'crowded' }
export const confirmed: EngineEvent = { type: 'confirmed' }
