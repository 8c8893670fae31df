import type { LeaseLost } from '../errors/lease-lost.js'
import type { Grant, LeaseRecord, Metadata } from '../store/lease-record.js'
import type { EngineState, HandOffTarget } from './engine-state.js'

/** The tasks that a transition gives the engine, in order. */
export type EngineEffect =
  /** Calls the store; the answer comes back as an event with the number `op`. */
  | { readonly type: 'call'; readonly op: number; readonly request: StoreRequest }
  /** Ends the call that is under way; its answer, if it still comes, is stale. */
  | { readonly type: 'abort' }
  | { readonly type: 'granted'; readonly grant: Grant; readonly previous: Metadata | undefined }
  /** The claim was refused. Callers whose time is up get `false`; the others go on waiting. */
  | { readonly type: 'refused'; readonly holder: LeaseRecord | undefined }
  /** A request failed. The error goes to callers whose time is up, and to all callers if it is definitive. */
  | { readonly type: 'failed'; readonly error: unknown; readonly definitive: boolean }
  /** The holder's grant cannot be broken. The callers that want it broken get the error. */
  | { readonly type: 'unbroken'; readonly error: unknown }
  /**
   * `latency`: how long the store took to confirm the heartbeat; `undefined` if the keeper of the grant sent it. `validUntil`:
   * when the validity would have ended without it.
   */
  | {
      readonly type: 'renewed'
      readonly grant: Grant
      readonly latency: number | undefined
      readonly validUntil: number
    }
  /**
   * A heartbeat failed or is late. `begins`: this is the first such heartbeat since one was confirmed; only then are
   * listeners notified. `latency`: the time since the failed heartbeat was sent; `undefined` if the heartbeat is only late.
   */
  | {
      readonly type: 'jeopardy'
      readonly cause: unknown
      readonly latency: number | undefined
      readonly begins: boolean
    }
  | { readonly type: 'recovered'; readonly grant: Grant }
  /** An update of the metadata was confirmed; or, with an error, it certainly failed and is not repeated. */
  | { readonly type: 'updated'; readonly error?: unknown }
  | { readonly type: 'lost'; readonly grant: Grant; readonly lost: LeaseLost }
  /** A release or a hand-off has ended. */
  | { readonly type: 'released'; readonly result: ReleaseResult }
  /**
   * Frees, in the background, a grant that the store has or may have under this id. `grant` is absent where it is not
   * known whether there is one. `hasStray`: an earlier request may still reach the store and be granted later.
   */
  | {
      readonly type: 'cleanup'
      readonly grantId: string
      readonly grant: Grant | undefined
      readonly hasStray: boolean
    }
  /** Gives up the place in the store's queue. */
  | { readonly type: 'withdraw'; readonly grantId: string }
  /** From now on, a grant under this id is in use by another process. */
  | { readonly type: 'passed'; readonly grantId: string }

/** An operation that the engine asks of the store. */
export type StoreRequest =
  /** `again`: the request only sets the ttl of a grant that is ours already, without the options of the callers. */
  | { readonly method: 'acquire'; readonly grantId: string; readonly queue: boolean; readonly again?: true }
  | { readonly method: 'change'; readonly grant: Grant; readonly to: HandOffTarget }
  | { readonly method: 'read' }
  | { readonly method: 'break'; readonly grantId: string }
  | { readonly method: 'renew'; readonly grant: Grant }
  | { readonly method: 'update'; readonly grant: Grant; readonly metadata: Metadata }
  | { readonly method: 'release'; readonly grant: Grant; readonly metadata: Metadata | undefined }

export type ReleaseResult =
  | { readonly ended: 'gone' }
  /** Someone else holds the name. */
  | { readonly ended: 'held' }
  | { readonly ended: 'handed-off'; readonly grant: Grant }
  | { readonly ended: 'unknown'; readonly error: unknown }

/** The outcome of a release for its caller. Throws when it is unknown. */
export function isGone(result: ReleaseResult): boolean {
  if (result.ended === 'unknown') throw result.error
  return result.ended !== 'held'
}

export interface Transition {
  readonly state: EngineState
  readonly effects: readonly EngineEffect[]
}

const none: readonly EngineEffect[] = []

/** The same transition; it first ends the call that is under way, if there is one. */
export function abortCall(call: unknown, { state, effects }: Transition): Transition {
  return call === undefined ? { state, effects } : { state, effects: [{ type: 'abort' }, ...effects] }
}

/** A transition to this state without effects. */
export function quiet(state: EngineState): Transition {
  return { state, effects: none }
}
