import { LeaseConflictError } from '../errors/lease-conflict-error.js'
import { type Grant, isLocked, type LeaseRecord, type Metadata } from '../store/lease-record.js'
import { validityOf } from '../time/validity.js'
import { abortCall, type EngineEffect, quiet, type StoreRequest, type Transition } from './engine-effect.js'
import type { EngineEvent, EventOf } from './engine-event.js'
import { type Acquiring, awaits, withLastTurn } from './engine-state.js'
import type { EventContext } from './event-context.js'
import { askedPause, forgedHandOff, parentLost, timedOut } from './failures.js'
import { becomeHeld, sendHeartbeat } from './from-held.js'
import { heldPause, outagePause, remainingOf, turnPause } from './pauses.js'

/** After which part of the ttl a challenger looks whether a holder has renewed: well within the other half of it. */
const LOOK_AGAIN = 0.25

/** A claim is asked for: a call is under way, or the turn is waited for. */
export function fromAcquiring(state: Acquiring, event: EngineEvent, context: EventContext): Transition {
  if ('op' in event && !awaits(state, event.op)) return quiet(state)
  if (context.isParentLost) return giveBack(state, context)
  switch (event.type) {
    case 'acquire-answer':
      if (event.outcome.granted) {
        const hasOtherTtl = state.call?.method === 'change' && event.outcome.grant.ttl !== context.rules.ttl
        return granted(state, { ...event.outcome, hasOtherTtl }, state.sentAt, context)
      }
      return refused(state, event.outcome.holder, context)
    case 'read-answer':
      return onRead(state, event.record, context)
    case 'failure':
      return onFailure(state, event, context)
    case 'tick':
      return onTick(state, context)
    case 'turn':
      return onTurn(state, event, context)
    case 'preempt':
      return onPreempt(state, event, context)
    case 'break-answer':
      return afterBreak(state, turnPause(context.rules, Math.max(state.refusals, 1), event, context.random), context)
    case 'queue':
      return quiet({ ...state, queue: true })
    case 'store-closed':
      return abortCall(state.call, {
        state: { phase: 'idle', op: state.op },
        effects: [{ type: 'failed', error: event.error, definitive: true }],
      })
    case 'cancel':
    case 'release':
      return abandon(state)
    default:
      return quiet(state)
  }
}

/** A holder that the store saw just now need not be asked for again before its expiry, unless the grant is ours. */
function onTurn(state: Acquiring, { holder, isCrowded }: EventOf<'turn'>, context: EventContext): Transition {
  const remaining = remainingOf(holder)
  const isHeld = remaining < Number.POSITIVE_INFINITY && holder?.grantId !== state.grantId
  if (state.call !== undefined) return quiet(isHeld ? state : { ...state, woken: true })
  // The timer sends it when there is room.
  if (!isHeld && isCrowded === true) return quiet({ ...state, retryAt: context.now })
  if (!isHeld) return sendClaim(state.op, state, context)
  return quiet({ ...state, retryAt: context.now + heldPause(remaining), failures: 0, failure: undefined })
}

/** Breaks the grant of the holder, and no other, unless it is to renew first: with too little left, it has no notice. */
function onPreempt(state: Acquiring, { holder, notice }: EventOf<'preempt'>, { rules, now }: EventContext): Transition {
  if (state.call !== undefined) return quiet(state)
  const { grantId, ttl = rules.ttl } = holder
  if (remainingOf(holder) < Math.min(notice, ttl / 2)) {
    return quiet({ ...state, retryAt: Math.min(state.retryAt, now + ttl * LOOK_AGAIN) })
  }
  const op = state.op + 1
  return {
    state: {
      ...state,
      op,
      call: { method: 'break', sentAt: now, limitAt: now + rules.operationTimeout },
      woken: false,
    },
    effects: [{ type: 'call', op, request: { method: 'break', grantId } }],
  }
}

/** The break has ended, whatever came of it: the next answer to the claim shows the holder. */
function afterBreak(state: Acquiring, pause: number, { now }: EventContext): Transition {
  return quiet({ ...state, call: undefined, retryAt: now + (state.woken ? 0 : pause) })
}

function onFailedBreak(state: Acquiring, event: EventOf<'failure'>, context: EventContext): Transition {
  const failures = state.failures + 1
  const pause = outagePause(context.rules, failures, context.random, askedPause(event.error))
  const next = afterBreak({ ...state, failures }, pause, context)
  // A conflict: the grant has ended meanwhile.
  const isFinal = event.definitive && !(event.error instanceof LeaseConflictError)
  return isFinal ? { state: next.state, effects: [{ type: 'unbroken', error: event.error }] } : next
}

/** A claim, with the history of earlier requests for it. */
type Claimed = Pick<Acquiring, 'grantId' | 'queue' | 'adopted'> & Partial<Acquiring>

/** Asks the store for the claim, first or again: under the same grant id, so that repeating it does no harm. */
export function sendClaim(lastOp: number, claimed: Claimed, { rules, now }: EventContext): Transition {
  const op = lastOp + 1
  const { grantId, queue, adopted, changedAt } = claimed
  // Until then the adopted lease is certainly ours. A later answer could be that of a new grant, after another holder.
  const oursUntil = adopted === undefined || changedAt === undefined ? now : changedAt + validityOf(adopted.ttl)
  const again = now < oursUntil
  const limitAt = now + rules.operationTimeout
  const request: StoreRequest =
    adopted === undefined || changedAt !== undefined
      ? { method: 'acquire', grantId, queue, ...(again ? { again } : {}) }
      : { method: 'change', grant: adopted, to: { grantId, owner: rules.owner } }
  return {
    state: {
      phase: 'acquiring',
      op,
      grantId,
      queue,
      adopted,
      changedAt,
      call: { method: request.method, sentAt: now, limitAt: again ? Math.min(limitAt, oursUntil) : limitAt },
      sentAt: now,
      retryAt: Number.POSITIVE_INFINITY,
      woken: false,
      refusals: claimed.refusals ?? 0,
      failures: claimed.failures ?? 0,
      failure: claimed.failure,
      uncertainSince: claimed.uncertainSince,
    },
    effects: [{ type: 'call', op, request }],
  }
}

function granted(
  state: Acquiring,
  { grant, previous, hasOtherTtl }: { readonly grant: Grant; readonly previous?: Metadata; hasOtherTtl: boolean },
  sentAt: number,
  context: EventContext,
): Transition {
  // With a request that may have taken effect before the last one was sent, one of the two may still be on its way; so may
  // a request for our own ttl that has had no effect yet.
  const isUncertain = state.uncertainSince !== undefined && state.uncertainSince < state.sentAt
  const hasStray = isUncertain || hasOtherTtl
  if (state.adopted !== undefined && grant.fencingToken <= state.adopted.fencingToken) {
    return giveBackForged(state, state.adopted, { type: 'cleanup', grantId: grant.grantId, grant, hasStray }, context)
  }
  const holdUntil = sentAt + context.rules.maxHold
  const held = becomeHeld({ op: state.op, grant, holdUntil, hasStray }, sentAt, context)
  if (context.now < held.validUntil) {
    if (!hasOtherTtl) return { state: held, effects: [{ type: 'granted', grant, previous }] }
    if (state.changedAt === undefined) return sendClaim(state.op, { ...state, changedAt: sentAt }, context)
    const next = sendHeartbeat({ ...held, hasOtherTtl }, context.now, context)
    return { state: next.state, effects: [{ type: 'granted', grant, previous }, ...next.effects] }
  }
  // The answer came so late that nothing of the validity is left: not held, and to be asked for again or given back.
  const error = timedOut(context.rules, 'acquire', context.now - sentAt)
  return waitOutFailure(uncertain(state), error, false, context)
}

function refused(state: Acquiring, holder: LeaseRecord | undefined, context: EventContext): Transition {
  const { rules, now } = context
  const refusals = state.refusals + 1
  // The store said during the call that it may be our turn: this answer may be older than that.
  const retryAt = state.woken ? now : now + turnPause(rules, refusals, holder, context.random)
  const isSafetyNet = rules.watched && rules.ordered && !state.woken
  return {
    state: {
      ...state,
      call: undefined,
      // Where a waiter only keeps its place, it does so together with others: a request alone costs ten times as much.
      retryAt: isSafetyNet ? context.shared(retryAt, now) : retryAt,
      refusals,
      failures: 0,
      failure: undefined,
    },
    effects: [{ type: 'refused', holder }],
  }
}

/** A lost response is settled by reading: if the record bears our grant id, we hold the lease. */
function onRead(state: Acquiring, record: LeaseRecord | undefined, context: EventContext): Transition {
  if (record?.grantId === state.grantId && record.state === 'leased') {
    const { owner, grantId, fencingToken, ttl = state.adopted?.ttl ?? context.rules.ttl, previous } = record
    const grant = { name: context.rules.name, owner, grantId, fencingToken, ttl }
    // With the ttl of the hand-off, the record shows only that the change took effect.
    const sentAt = state.changedAt ?? state.uncertainSince ?? state.sentAt
    const hasOtherTtl = state.adopted !== undefined && ttl !== context.rules.ttl
    return granted(state, { grant, hasOtherTtl, ...(previous === undefined ? {} : { previous }) }, sentAt, context)
  }
  // A lock without a recorded holder may come from our own request, before it wrote its record.
  if (isLocked(record) && record.grantId !== '') return refused(state, record, context)
  return waitOutFailure(state, state.failure, false, context)
}

function onFailure(state: Acquiring, { op, error, definitive }: EventOf<'failure'>, context: EventContext): Transition {
  if (state.call === undefined) return quiet(state)
  const { method, limitAt, sentAt } = state.call
  if (method === 'break') return onFailedBreak(state, { type: 'failure', op, error, definitive }, context)
  if (method === 'read') return waitOutFailure(state, state.failure, false, context)
  if (definitive) return waitOutFailure(state, error, true, context)
  const failed: Acquiring = { ...uncertain(state), failure: error }
  if (context.now >= limitAt) return waitOutFailure(failed, error, false, context)
  const next = op + 1
  return {
    state: { ...failed, op: next, call: { method: 'read', sentAt, limitAt } },
    effects: [{ type: 'call', op: next, request: { method: 'read' } }],
  }
}

function onTick(state: Acquiring, context: EventContext): Transition {
  const { rules, now } = context
  if (state.call === undefined) return now < state.retryAt ? quiet(state) : sendClaim(state.op, state, context)
  if (now < state.call.limitAt) return quiet(state)
  const overdue = withLastTurn(state.call, now)
  if (overdue !== undefined) return quiet({ ...state, call: overdue })
  if (state.call.method === 'break') {
    const pause = outagePause(rules, state.failures + 1, context.random)
    return abortCall(state.call, afterBreak({ ...state, failures: state.failures + 1 }, pause, context))
  }
  const error = timedOut(rules, 'acquire', rules.operationTimeout)
  return abortCall(state.call, waitOutFailure(uncertain(state), error, false, context))
}

/** The request that was last sent may have taken effect: the first such one is remembered. */
function uncertain(state: Acquiring): Acquiring {
  return { ...state, uncertainSince: state.uncertainSince ?? state.sentAt }
}

/** The attempt failed: the callers that still wait ask again after a pause. */
function waitOutFailure(
  state: Acquiring,
  failure: unknown,
  definitive: boolean,
  { rules, now, random }: EventContext,
): Transition {
  const failures = state.failures + 1
  return {
    state: {
      ...state,
      call: undefined,
      retryAt: now + outagePause(rules, failures, random, askedPause(failure)),
      failures,
      failure,
    },
    effects: [{ type: 'failed', error: failure, definitive }],
  }
}

/**
 * The token of a later grant is larger, so the hand-off bears another token than the record did. It was changed on its way, and
 * the rest of it may have been changed as well.
 */
function giveBackForged(
  { op }: Acquiring,
  { fencingToken }: Grant,
  cleanup: EngineEffect & { readonly type: 'cleanup' },
  { rules }: EventContext,
): Transition {
  const error = forgedHandOff(rules, fencingToken, cleanup.grant?.fencingToken)
  return { state: { phase: 'idle', op }, effects: [cleanup, { type: 'failed', error, definitive: true }] }
}

/** The parent is not valid any more: a grant that the attempt has produced, or may still produce, does not count. */
function giveBack(state: Acquiring, { rules }: EventContext): Transition {
  const { state: next, effects } = abandon(state)
  return { state: next, effects: [...effects, { type: 'failed', error: parentLost(rules), definitive: true }] }
}

/** No caller waits any more: ends the call and cleans up a grant that it may have produced. */
function abandon(state: Acquiring): Transition {
  const effects: EngineEffect[] = []
  if (state.call !== undefined) effects.push({ type: 'abort' })
  if (state.queue) effects.push({ type: 'withdraw', grantId: state.grantId })
  const isClaiming = state.call !== undefined && state.call.method !== 'break'
  if (isClaiming || state.uncertainSince !== undefined || state.changedAt !== undefined) {
    effects.push({ type: 'cleanup', grantId: state.grantId, grant: undefined, hasStray: true })
  }
  return { state: { phase: 'idle', op: state.op }, effects }
}
