import type { Grant, Metadata } from '../store/lease-record.js'

/**
 * The life cycle of a lease on the side of its owner. `op` is the serial number of the last call to the store: an
 * answer that bears another number is stale and changes nothing.
 */
export type EngineState = Idle | Acquiring | Held | Releasing

export interface Idle {
  readonly phase: 'idle'
  readonly op: number
}

/** How late a timer may be, in milliseconds, before the event loop counts as blocked. */
export const LATE = 20

/** A call to the store that is under way. */
interface PendingCall {
  readonly method: 'acquire' | 'change' | 'break' | 'read' | 'renew' | 'update' | 'release'
  /** When it was sent: validity counts from here. */
  readonly sentAt: number
  /** When the attempt is given up. */
  readonly limitAt: number
  /** True if the limit was noticed late: the answer gets one more turn of the event loop. */
  readonly isOverdue?: true
}

/** A claim that is not decided yet: a call is under way, or the claim waits for its turn. */
export interface Acquiring {
  readonly phase: 'acquiring'
  readonly op: number
  /** Proposed by us, the same for the whole wait: it marks the place in the queue and settles lost responses. */
  readonly grantId: string
  /** Whether a refused claim takes or keeps a place in the store's queue. */
  readonly queue: boolean
  /** The grant handed over to us, where this is an adoption. */
  readonly adopted: Grant | undefined
  /** Whether the caller chose the grant id: a holder may know it, and hand its lease over to it at any time. */
  readonly offered?: boolean | undefined
  /** When the request was sent that made the adopted lease ours, once confirmed. The next request sets our own ttl. */
  readonly changedAt?: number | undefined
  readonly call: PendingCall | undefined
  /** When the claim itself was last sent; from here validity counts if it is answered with a grant. */
  readonly sentAt: number
  /**
   * When the first claim under the grant id was sent. If a read finds the lease granted, validity counts from here: it is
   * unknown which request was granted. A copy of one that was refused may have been, after the name became free.
   */
  readonly firstSentAt: number
  /** When to ask again, while no call is under way. */
  readonly retryAt: number
  /** Whether the store said, during the call that is under way, that it may be our turn. */
  readonly woken: boolean
  readonly refusals: number
  readonly failures: number
  /** The failure of the last claim; `undefined` if it did not fail, or if the store has shown a holder since. */
  readonly failure: unknown
  /**
   * When the first request under the grant id was sent that may have taken effect, or may still do so. If the attempt is
   * given up, its grant has to be taken back.
   */
  readonly uncertainSince: number | undefined
}

export interface Held {
  /** `jeopardy`: the last heartbeat failed or is late. */
  readonly phase: 'held' | 'jeopardy'
  readonly op: number
  readonly grant: Grant
  /** When the last confirmed request was sent. */
  readonly confirmedAt: number
  /** The end of validity: the holder may act only before it. */
  readonly validUntil: number
  /** When the grant ends by `maxHold`. */
  readonly holdUntil: number
  /** How much suspended time the clock had counted when validity was last confirmed. */
  readonly suspended: number
  readonly call: PendingCall | undefined
  /** When the next heartbeat is due, while none is under way; `Infinity` where none is planned. */
  readonly heartbeatAt: number
  readonly attemptTimeout: number
  /** True where the record may still have the ttl of the lease that was handed off: the next heartbeat sets our own. */
  readonly hasOtherTtl: boolean | undefined
  /** The metadata to be written with the next heartbeat. */
  readonly update: Metadata | undefined
  /** True where the store saw the record changed after the heartbeat under way was sent: another one has to follow. */
  readonly changed: boolean | undefined
  readonly failures: number
  /** The last failure of a heartbeat since one was confirmed. */
  readonly failure: unknown
  /** Whether an earlier request under the grant id may still reach the store, and lock the name when the grant has ended. */
  readonly hasStray: boolean
}

export interface Releasing {
  readonly phase: 'releasing'
  readonly op: number
  readonly grant: Grant
  /** To whom the lease is handed off, where this is a hand-off. */
  readonly to: HandOffTarget | undefined
  /** The metadata to leave behind. */
  readonly metadata: Metadata | undefined
  /** True while the lease waits for the releases of its children, before it sends anything. */
  readonly hasChildren?: boolean | undefined
  /** The call that is under way. */
  readonly call: PendingCall['method'] | undefined
  readonly retryAt: number
  /** When the release is given up as unknown; `Infinity` before its first request. */
  readonly limitAt: number
  readonly failures: number
  readonly failure: unknown
  /** See {@link Held.hasStray}. */
  readonly hasStray: boolean
}

export interface HandOffTarget {
  readonly grantId: string
  readonly owner: string
  /** Whether a waiter asks under the grant id already: from the change on, the grant is in use. */
  readonly isWaiter?: boolean | undefined
}

/** The state, if the lease is held; its validity may be over. */
export function heldIn(state: EngineState): Held | undefined {
  return state.phase === 'held' || state.phase === 'jeopardy' ? state : undefined
}

/** The next instant at which the state has to be looked at again; `Infinity` while there is none. */
export function wakeAt(state: EngineState): number {
  switch (state.phase) {
    case 'idle':
      return Number.POSITIVE_INFINITY
    case 'acquiring':
      return state.call?.limitAt ?? state.retryAt
    case 'releasing':
      return Math.min(state.limitAt, state.call === undefined ? state.retryAt : Number.POSITIVE_INFINITY)
    default:
      return Math.min(state.validUntil, state.call?.limitAt ?? state.heartbeatAt)
  }
}

/** When the call under way is given up. */
export function limitOf(state: EngineState): number {
  if (state.phase === 'idle') return Number.POSITIVE_INFINITY
  if (state.phase === 'releasing') return state.limitAt
  return state.call?.limitAt ?? Number.POSITIVE_INFINITY
}

/**
 * Gives a call whose limit was noticed late one more turn of the event loop: after a blocked loop, timers run before
 * the answers that have come meanwhile are read. `undefined` if the call has had that turn, or its limit was noticed in time.
 */
export function withLastTurn(call: PendingCall, now: number): PendingCall | undefined {
  if (call.isOverdue === true || now <= call.limitAt + LATE) return undefined
  return { ...call, limitAt: now, isOverdue: true }
}

/**
 * When to look again at a due request that is not sent now, because too many others are under way; `undefined` if none is
 * due, or it may not be delayed. When a delayed heartbeat becomes late, the holder learns of it.
 */
export function delayedUntil(state: EngineState, operationTimeout: number, now: number): number | undefined {
  if (state.phase === 'idle' || state.phase === 'releasing' || state.call !== undefined) return undefined
  if (state.phase === 'acquiring') return now < state.retryAt ? undefined : Number.POSITIVE_INFINITY
  const { heartbeatAt, update, hasOtherTtl, validUntil } = state
  const isPlain = update === undefined && hasOtherTtl !== true
  if (now < heartbeatAt || !isPlain) return undefined
  if (now >= validUntil) return undefined
  const lateAt = heartbeatAt + operationTimeout
  return state.phase === 'jeopardy' || now >= lateAt ? validUntil : Math.min(lateAt, validUntil)
}

/** Whether the call with this number is under way; the answer to any other is stale. */
export function awaits(state: EngineState, op: number): boolean {
  return state.phase !== 'idle' && state.call !== undefined && state.op === op
}

/**
 * Whether the heartbeat under way has the usual time limit, so that its batch can look at it when the limit has come. A
 * strategy, or the end of the validity, may set an earlier one.
 */
export function hasUsualLimit(state: EngineState, operationTimeout: number): boolean {
  if (state.phase !== 'held' && state.phase !== 'jeopardy') return false
  const { call, validUntil } = state
  if (call?.method !== 'renew' || call.isOverdue === true) return false
  return call.limitAt < validUntil && call.limitAt >= call.sentAt + operationTimeout
}

/** Whether the lease is held and its next heartbeat has to be sent. */
export function isHeartbeatDue(state: EngineState, now: number): boolean {
  if (state.phase !== 'held' && state.phase !== 'jeopardy') return false
  return state.call === undefined && state.heartbeatAt <= now
}
