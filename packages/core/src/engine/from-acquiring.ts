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

/** A challenger looks again after this part of the ttl: a holder that has renewed has more than half of it left then. */
const LOOK_AGAIN = 0.25

/** The transition of a claim that is not decided yet: a call is under way, or the claim waits for its turn. */
export function fromAcquiring(state: Acquiring, event: EngineEvent, context: EventContext): Transition {
  if ('op' in event && !awaits(state, event.op)) return quiet(state)
  if (context.isParentLost) return giveBack(state, context)
  switch (event.type) {
    case 'acquire-answer':
      if (event.outcome.granted) {
        const hasOtherTtl = state.call?.method === 'change' && event.outcome.grant.ttl !== context.rules.ttl
        return granted(state, event.outcome, hasOtherTtl, state.sentAt, context)
      }
      // A part of the store may keep the grant. So it is released when the claim is given up, as after an unknown outcome.
      return refused(event.outcome.left === true ? uncertain(state) : state, event.outcome.holder, context)
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

/** If the store has just seen a holder, the claim need not be sent again before the expiry, unless the grant is ours. */
function onTurn(state: Acquiring, { holder, isCrowded }: EventOf<'turn'>, context: EventContext): Transition {
  const remaining = remainingOf(holder)
  const isHeld = remaining < Number.POSITIVE_INFINITY && holder?.grantId !== state.grantId
  if (state.call !== undefined) return quiet(isHeld ? state : { ...state, woken: true })
  // The timer sends the claim when there is room.
  if (!isHeld && isCrowded === true) return quiet({ ...state, retryAt: context.now })
  if (!isHeld) return sendClaim(state.op, state, context)
  return quiet({ ...state, retryAt: context.now + heldPause(remaining), failures: 0, failure: undefined })
}

/** Breaks the grant of this holder, and no other. If it has too little time left for the notice, it has to renew first. */
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

/** The break has ended. Whatever its outcome, the next answer to the claim shows the holder. */
function afterBreak(state: Acquiring, pause: number, { now }: EventContext): Transition {
  return quiet({ ...state, call: undefined, retryAt: now + (state.woken ? 0 : pause) })
}

function onFailedBreak(state: Acquiring, event: EventOf<'failure'>, context: EventContext): Transition {
  const failures = state.failures + 1
  const pause = outagePause(context.rules, failures, context.random, askedPause(event.error))
  const next = afterBreak({ ...state, failures }, pause, context)
  // After a conflict the claim goes on: the grant has ended meanwhile.
  const isFinal = event.definitive && !(event.error instanceof LeaseConflictError)
  return isFinal ? { state: next.state, effects: [{ type: 'unbroken', error: event.error }] } : next
}

/** A claim, with the history of earlier requests for it. */
type Claimed = Pick<Acquiring, 'grantId' | 'queue' | 'adopted'> & Partial<Acquiring>

/** Sends the claim, for the first time or again. The grant id stays the same, so that repeating it does no harm. */
export function sendClaim(lastOp: number, claimed: Claimed, { rules, now }: EventContext): Transition {
  const op = lastOp + 1
  const { grantId, queue, adopted, offered, changedAt } = claimed
  // Until `oursUntil` the adopted lease is certainly ours. A later answer may be a new grant, after another holder.
  const oursUntil = adopted === undefined || changedAt === undefined ? now : changedAt + validityOf(adopted.ttl)
  const again = now < oursUntil
  const limitAt = now + rules.operationTimeout
  const claim = { method: 'acquire', grantId, queue } as const
  const request: StoreRequest =
    adopted !== undefined && changedAt === undefined
      ? { method: 'change', grant: adopted, to: { grantId, owner: rules.owner } }
      : again
        ? { ...claim, again }
        : claim
  return {
    state: {
      phase: 'acquiring',
      op,
      grantId,
      queue,
      adopted,
      offered,
      changedAt,
      call: { method: request.method, sentAt: now, limitAt: again ? Math.min(limitAt, oursUntil) : limitAt },
      sentAt: now,
      firstSentAt: claimed.firstSentAt ?? now,
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
  { grant, previous }: { readonly grant: Grant; readonly previous?: Metadata | undefined },
  hasOtherTtl: boolean,
  sentAt: number,
  context: EventContext,
): Transition {
  // If an earlier request may have taken effect, that request or the last one may still be on its way. So may a request for
  // our own ttl, while the grant still has the other ttl.
  const isUncertain = state.uncertainSince !== undefined && state.uncertainSince < state.sentAt
  // A hand-off to an offered grant id may come late, when the grant has ended.
  const hasStray = isUncertain || hasOtherTtl || state.offered === true
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
  // The answer came so late that no validity is left. The lease is not held: it is asked for again, or given back.
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
      // A waiter that only keeps its place asks together with others: a request alone costs ten times as much.
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
    // A record with the ttl of the hand-off shows only that the change took effect.
    const sentAt = state.changedAt ?? state.firstSentAt
    const hasOtherTtl = state.adopted !== undefined && ttl !== context.rules.ttl
    return granted(state, { grant, previous }, hasOtherTtl, sentAt, context)
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

/** The last request may have taken effect. Remembers when the first such request was sent. */
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
 * Gives back a grant whose token is not larger than that of the hand-off. A later grant has a larger token than the record
 * had, so the hand-off was changed on its way. The rest of it may have been changed as well.
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
  const isUncertain = state.uncertainSince !== undefined || state.offered === true
  if (isClaiming || isUncertain || state.changedAt !== undefined) {
    effects.push({ type: 'cleanup', grantId: state.grantId, grant: undefined, hasStray: true })
  }
  return { state: { phase: 'idle', op: state.op }, effects }
}
