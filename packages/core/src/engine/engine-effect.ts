import type { LeaseLost } from '../lease-lost.js'
import type { Grant, LeaseRecord } from '../store/lease-record.js'
import type { EngineState, HandOffTarget } from './engine-state.js'

/** What a transition asks of the shell around it, in order. */
export type EngineEffect =
  /** Calls the store; the answer comes back as an event with the number `op`. */
  | { readonly type: 'call'; readonly op: number; readonly call: StoreCall }
  /** Ends the call that is under way; its answer, if it still comes, is stale. */
  | { readonly type: 'abort' }
  | { readonly type: 'granted'; readonly grant: Grant }
  /** For the callers whose time is up; the others go on waiting. */
  | { readonly type: 'refused'; readonly holder: LeaseRecord | undefined }
  /** For the callers whose time is up, or for all of them where it is definitive. */
  | { readonly type: 'failed'; readonly error: unknown; readonly definitive: boolean }
  | { readonly type: 'renewed'; readonly grant: Grant; readonly latency: number }
  /**
   * A heartbeat failed or is late. `begins`: no heartbeat had failed or been late since one was confirmed; only then are
   * listeners notified. `latency`: how long the heartbeat that failed was given; absent where it is only late.
   */
  | {
      readonly type: 'jeopardy'
      readonly cause: unknown
      readonly latency: number | undefined
      readonly begins: boolean
    }
  | { readonly type: 'recovered'; readonly grant: Grant }
  | { readonly type: 'lost'; readonly grant: Grant; readonly lost: LeaseLost }
  /** A release or a hand-off has ended. */
  | { readonly type: 'released'; readonly result: ReleaseResult }
  /**
   * Takes back what may have been granted, or is left in the store, under this id: in the background. `grant` is absent
   * where it is not known whether there is one; with it, `hasStray` says that there may be another one later.
   */
  | {
      readonly type: 'give-back'
      readonly grantId: string
      readonly grant: Grant | undefined
      readonly hasStray: boolean
    }
  /** Gives up the place in the store's queue. */
  | { readonly type: 'withdraw'; readonly grantId: string }

export type StoreCall =
  | { readonly method: 'acquire'; readonly grantId: string; readonly queue: boolean }
  | { readonly method: 'change'; readonly grant: Grant; readonly to: HandOffTarget }
  | { readonly method: 'read' }
  | { readonly method: 'renew'; readonly grant: Grant }
  | { readonly method: 'release'; readonly grant: Grant }

export type ReleaseResult =
  | { readonly ended: 'gone' }
  /** Someone else holds the name. */
  | { readonly ended: 'held' }
  | { readonly ended: 'handed-off'; readonly grant: Grant }
  | { readonly ended: 'unknown'; readonly error: unknown }

export interface Transition {
  readonly state: EngineState
  readonly effects: readonly EngineEffect[]
}

const none: readonly EngineEffect[] = []

/** A transition without effects; of the same state, where the event changes nothing. */
export function quiet(state: EngineState): Transition {
  return { state, effects: none }
}
