import type { Grant, LeaseRecord, Metadata } from '../store/lease-record.js'
import { abortCall, type EngineEffect, quiet, type StoreRequest, type Transition } from './engine-effect.js'
import type { EngineEvent, EventOf } from './engine-event.js'
import { type Acquiring, awaits } from './engine-state.js'
import type { EventContext } from './event-context.js'
import { askedPause, parentLost, timedOut } from './failures.js'
import { becomeHeld } from './from-held.js'
import { heldPause, outagePause, remainingOf, turnPause } from './pauses.js'

/** A claim is asked for: a call is under way, or the turn is waited for. */
export function fromAcquiring(state: Acquiring, event: EngineEvent, context: EventContext): Transition {
  if ('op' in event && !awaits(state, event.op)) return quiet(state)
  if (context.isParentLost) return giveBack(state, context)
  switch (event.type) {
    case 'acquire-answer':
      if (event.outcome.granted) return granted(state, event.outcome, state.sentAt, context)
      return refused(state, event.outcome.holder, context)
    case 'read-answer':
      return onRead(state, event.record, context)
    case 'failure':
      return onFailure(state, event, context)
    case 'tick':
      return onTick(state, context)
    case 'turn':
      return onTurn(state, event.holder, context)
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
function onTurn(state: Acquiring, holder: LeaseRecord | undefined, context: EventContext): Transition {
  const remaining = remainingOf(holder)
  const isHeld = remaining < Number.POSITIVE_INFINITY && holder?.grantId !== state.grantId
  if (state.call !== undefined) return quiet(isHeld ? state : { ...state, woken: true })
  if (!isHeld) return sendClaim(state.op, state, context)
  return quiet({ ...state, retryAt: context.now + heldPause(remaining), failures: 0, failure: undefined })
}

/** A claim, with the history of earlier requests for it. */
type Claimed = Pick<Acquiring, 'grantId' | 'queue' | 'adopted'> & Partial<Acquiring>

/** Asks the store for the claim, first or again: under the same grant id, so that repeating it does no harm. */
export function sendClaim(lastOp: number, claimed: Claimed, { rules, now }: EventContext): Transition {
  const op = lastOp + 1
  const { grantId, queue, adopted } = claimed
  const request: StoreRequest =
    adopted === undefined
      ? { method: 'acquire', grantId, queue }
      : { method: 'change', grant: adopted, to: { grantId, owner: rules.owner } }
  return {
    state: {
      phase: 'acquiring',
      op,
      grantId,
      queue,
      adopted,
      call: { method: request.method, sentAt: now, limitAt: now + rules.operationTimeout },
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
  { grant, previous }: { readonly grant: Grant; readonly previous?: Metadata },
  sentAt: number,
  context: EventContext,
): Transition {
  // With a request that may have taken effect before the last one was sent, one of the two may still be on its way.
  const hasStray = state.uncertainSince !== undefined && state.uncertainSince < state.sentAt
  const holdUntil = sentAt + context.rules.maxHold
  const held = becomeHeld({ op: state.op, grant, holdUntil, hasStray }, sentAt, context)
  if (context.now < held.validUntil) return { state: held, effects: [{ type: 'granted', grant, previous }] }
  // The answer came so late that nothing of the validity is left: not held, and to be asked for again or given back.
  const error = timedOut(context.rules, 'acquire', context.now - sentAt)
  return waitOutFailure(uncertain(state), error, false, context)
}

function refused(state: Acquiring, holder: LeaseRecord | undefined, { rules, now, random }: EventContext): Transition {
  const refusals = state.refusals + 1
  // The store said during the call that it may be our turn: this answer may be older than that.
  const pause = state.woken ? 0 : turnPause(rules, refusals, holder, random)
  return {
    state: { ...state, call: undefined, retryAt: now + pause, refusals, failures: 0, failure: undefined },
    effects: [{ type: 'refused', holder }],
  }
}

/** A lost response is settled by reading: if the record bears our grant id, we hold the lease. */
function onRead(state: Acquiring, record: LeaseRecord | undefined, context: EventContext): Transition {
  if (record?.grantId === state.grantId && record.state === 'leased') {
    const { owner, grantId, fencingToken, ttl = context.rules.ttl, previous } = record
    const grant = { name: context.rules.name, owner, grantId, fencingToken, ttl }
    const sentAt = state.uncertainSince ?? state.sentAt
    return granted(state, { grant, ...(previous === undefined ? {} : { previous }) }, sentAt, context)
  }
  const locked = record !== undefined && (record.state === 'leased' || record.state === 'breaking')
  // A lock without a recorded holder may come from our own request, before it wrote its record.
  if (locked && record.grantId !== '') return refused(state, record, context)
  return waitOutFailure(state, state.failure, false, context)
}

function onFailure(state: Acquiring, { op, error, definitive }: EventOf<'failure'>, context: EventContext): Transition {
  if (state.call === undefined) return quiet(state)
  const { method, limitAt, sentAt } = state.call
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
  if (state.call !== undefined || state.uncertainSince !== undefined) {
    effects.push({ type: 'cleanup', grantId: state.grantId, grant: undefined, hasStray: true })
  }
  return { state: { phase: 'idle', op: state.op }, effects }
}
