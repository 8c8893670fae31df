import type { LeaseLost, LeaseLostReason } from '../errors/lease-lost.js'
import type { Grant, LeaseRecord, Metadata } from '../store/lease-record.js'
import { validityOf } from '../time/validity.js'
import { abortCall, type EngineEffect, quiet, type StoreRequest, type Transition } from './engine-effect.js'
import type { EngineEvent, EventOf } from './engine-event.js'
import { awaits, type HandOffTarget, type Held, type Releasing, withLastTurn } from './engine-state.js'
import type { EventContext } from './event-context.js'
import { askedPause, timedOut } from './failures.js'
import { sendRelease } from './from-releasing.js'
import type { LeaseRules } from './lease-rules.js'
import { retryPause } from './pauses.js'

/** However late a strategy plans a heartbeat, one attempt is made within this part of the validity. */
const LATEST_HEARTBEAT = 0.95

/**
 * How much of the pause before a heartbeat is random, after a grant and after failures. Without it, leases that were
 * acquired together, or renewed together when a server answered again, would load the server together for ever.
 */
const SPREAD = 0.75

/** A heartbeat was not sent in time. */
const late: EngineEffect = { type: 'jeopardy', cause: undefined, latency: undefined, begins: true }

/** The transition of a lease that is held, whether or not its last heartbeat was confirmed. */
export function fromHeld(state: Held, event: EngineEvent, context: EventContext): Transition {
  // A release ends the grant without a report of its loss, even if its validity is over.
  if (event.type === 'release') return leave(state, undefined, event, context)
  // The keeper may have extended the validity while this thread was blocked.
  if (event.type === 'kept') return onKept(state, event, context)
  if (event.type === 'kept-refused') return onRenewed(state, event, context)
  if (context.now >= state.validUntil) return expire(state, context)
  if (context.isParentLost) return lose(state, { reason: 'parent-lost' }, true)
  if ('op' in event && !awaits(state, event.op)) return quiet(state)
  switch (event.type) {
    case 'tick':
      return onTick(state, context)
    case 'crowded':
      return isLate(state, state.heartbeatAt, context)
        ? { state: { ...state, phase: 'jeopardy' }, effects: [late] }
        : quiet(state)
    case 'confirmed':
      return onConfirmed(state, context)
    case 'renew-answer':
      return onRenewed(state, event, context)
    case 'acquire-answer':
      return onOwnTtl(state, event, context)
    case 'failure':
      return onFailure(state, event, context)
    case 'read-answer':
      return onRead(state, event, context)
    case 'changed':
      if (state.call !== undefined) return quiet({ ...state, changed: true })
      return context.rules.manual ? sendRead(state, context) : sendHeartbeat(state, context.now, context)
    case 'renew':
      return renewNow(state, context)
    case 'update':
      return renewNow({ ...state, update: event.metadata }, context)
    case 'hand-off':
      return leave(state, event.to, event, context)
    case 'store-closed':
      return lose(state, { reason: 'closed', ...(event.cause === undefined ? {} : { cause: event.cause }) }, true)
    case 'end':
      return lose(state, { reason: event.reason }, true)
    default:
      return quiet(state)
  }
}

/**
 * The state of a grant that a request sent at `sentAt` has confirmed. `early`: by which part of the pause before it the
 * next heartbeat comes earlier; random unless given, as for a new grant.
 */
export function becomeHeld(
  { op, grant, holdUntil, hasStray }: Pick<Held, 'op' | 'grant' | 'holdUntil' | 'hasStray'>,
  sentAt: number,
  context: EventContext,
  early = SPREAD * context.random(),
): Held {
  const { rules, suspended } = context
  const validUntil = Math.min(sentAt + grantValidity(grant, rules), holdUntil)
  const plan = planned({ confirmedAt: sentAt, validUntil }, early, context)
  return {
    phase: 'held',
    op,
    grant,
    confirmedAt: sentAt,
    validUntil,
    holdUntil,
    suspended,
    call: undefined,
    heartbeatAt: plan.heartbeatAt,
    attemptTimeout: plan.attemptTimeout,
    hasOtherTtl: undefined,
    update: undefined,
    changed: undefined,
    failures: 0,
    failure: undefined,
    hasStray,
  }
}

/** How long a grant is valid, from the instant at which the confirmed request was sent, on our own clock. */
export function grantValidity(grant: Grant, rules: LeaseRules): number {
  return validityOf(Math.min(rules.ttl, grant.ttl)) - rules.fenceReserve
}

function planned(
  { confirmedAt, validUntil }: Pick<Held, 'confirmedAt' | 'validUntil'>,
  early: number,
  context: EventContext,
): { heartbeatAt: number; attemptTimeout: number } {
  const { after, attemptTimeout } = context.plan()
  if (context.rules.manual) return { heartbeatAt: Number.POSITIVE_INFINITY, attemptTimeout }
  const latest = (validUntil - confirmedAt) * LATEST_HEARTBEAT
  const pause = (after > 0 ? Math.min(after, latest) : latest / 2) * (1 - (context.rules.exact ? 0 : early))
  return { heartbeatAt: context.shared(confirmedAt + pause, context.now), attemptTimeout }
}

function onTick(state: Held, context: EventContext): Transition {
  const { now } = context
  if (state.call !== undefined) {
    if (now < state.call.limitAt) return quiet(state)
    const overdue = withLastTurn(state.call, now)
    if (overdue !== undefined) return quiet({ ...state, call: overdue })
    if (state.call.method === 'read') return abortCall(state.call, endRead(state, context))
    const error = timedOut(context.rules, 'heartbeat', now - state.call.sentAt)
    return abortCall(state.call, onFailedHeartbeat(state, error, context))
  }
  if (now < state.heartbeatAt) return quiet(state)
  return sendHeartbeat(state, state.heartbeatAt, context)
}

/** Sends a heartbeat, or shares the one that is under way. Gives up a read that is under way. */
function renewNow(state: Held, context: EventContext): Transition {
  if (state.call !== undefined && state.call.method !== 'read') return quiet(state)
  return abortCall(state.call, sendHeartbeat({ ...state, call: undefined }, context.now, context))
}

/** Reads the record, which another program may have changed, where a heartbeat would extend a grant by itself. */
function sendRead(state: Held, { now, rules }: EventContext): Transition {
  const op = state.op + 1
  const limitAt = Math.min(now + rules.operationTimeout, state.validUntil)
  return {
    state: { ...state, op, call: { method: 'read', sentAt: now, limitAt }, changed: undefined },
    effects: [{ type: 'call', op, request: { method: 'read' } }],
  }
}

function onRead(state: Held, { record }: EventOf<'read-answer'>, context: EventContext): Transition {
  if (record === undefined) return lose({ ...state, call: undefined }, { reason: 'deleted' }, false)
  if (record.grantId !== state.grant.grantId) {
    return lose({ ...state, call: undefined }, { reason: 'taken', owner: record.owner }, false)
  }
  const isBroken = record.state === 'breaking' || record.state === 'broken'
  if (isBroken && record.owner !== state.grant.owner) {
    return lose({ ...state, call: undefined }, { reason: 'taken' }, true)
  }
  if (!isBroken) return endRead(state, context)
  return lose({ ...state, call: undefined }, { reason: 'broken', ...lockOf(state, record, true, context) }, false)
}

/** Ends a read. A read that failed is not repeated: the next renewal finds the change as well. */
function endRead(state: Held, context: EventContext): Transition {
  const looked: Held = { ...state, call: undefined }
  return state.changed === true ? sendRead(looked, context) : quiet(looked)
}

/** Sends a heartbeat now. `dueAt`: when it was due. */
export function sendHeartbeat(state: Held, dueAt: number, context: EventContext): Transition {
  const { now } = context
  const op = state.op + 1
  const request = heartbeatOf(state)
  const effects: EngineEffect[] = [{ type: 'call', op, request }]
  const begins = isLate(state, dueAt, context)
  if (begins) effects.push(late)
  const limitAt = Math.min(now + state.attemptTimeout, state.validUntil)
  return {
    state: {
      ...state,
      phase: begins ? 'jeopardy' : state.phase,
      op,
      call: { method: request.method, sentAt: now, limitAt },
      changed: undefined,
    },
    effects,
  }
}

/** Whether the holder has to learn now that the heartbeat due at this instant was not sent in time. */
function isLate({ phase }: Held, dueAt: number, { now, rules }: EventContext): boolean {
  return phase === 'held' && now >= dueAt + rules.operationTimeout
}

function heartbeatOf({ grant, update, hasOtherTtl }: Held): StoreRequest {
  if (hasOtherTtl === true) return { method: 'acquire', grantId: grant.grantId, queue: false, again: true }
  return update === undefined ? { method: 'renew', grant } : { method: 'update', grant, metadata: update }
}

/** The answer to the heartbeat that sets our own ttl, by claiming the grant again. */
function onOwnTtl(state: Held, { outcome }: EventOf<'acquire-answer'>, context: EventContext): Transition {
  const { fencingToken } = state.grant
  if (outcome.granted && outcome.grant.fencingToken === fencingToken) {
    const own = { ...state, grant: outcome.grant, hasOtherTtl: undefined }
    return onConfirmed(own, context)
  }
  // The grant had ended, and this is a new one: given back, because another owner may have held the name in between.
  if (outcome.granted) return lose(state, { reason: 'taken' }, true)
  const { holder } = outcome
  if (holder === undefined || holder.state === 'breaking') return lose(state, { reason: 'broken' }, false)
  return lose(state, { reason: 'taken', owner: holder.owner }, false)
}

function onRenewed(
  state: Held,
  { type, outcome }: EventOf<'renew-answer' | 'kept-refused'>,
  context: EventContext,
): Transition {
  if (outcome.renewed) return onConfirmed(state, context)
  const { reason, holder, left } = outcome
  // The name is still locked by our own grant, whose owner another program removed: others wait until we free it.
  const isOwn = reason === 'taken' && holder?.grantId === state.grant.grantId
  const owner = holder === undefined || isOwn ? {} : { owner: holder.owner }
  // The keeper does not say when it sent its heartbeat.
  const lock = reason === 'broken' ? lockOf(state, holder, type === 'renew-answer', context) : {}
  return lose(state, { reason, ...owner, ...lock }, isOwn || left === true)
}

/** Until when a broken grant locks its name, if its record says so. `isOwn`: the record answers the call under way. */
function lockOf(
  { grant, call, confirmedAt, validUntil }: Held,
  record: LeaseRecord | undefined,
  isOwn: boolean,
  { rules }: EventContext,
): Pick<LeaseLost, 'lockedUntil'> {
  const { grantId, state, remaining = 0 } = record ?? {}
  // If each process counts for how long it has seen a record, more time may be left here than for a challenger.
  if (grantId !== grant.grantId || state !== 'breaking' || remaining === 0 || rules.observed) return {}
  const askedAt = isOwn && call !== undefined ? call.sentAt : confirmedAt
  return { lockedUntil: Math.min(validUntil, askedAt + validityOf(remaining)) }
}

/** The validity counts from the heartbeat of the keeper. A heartbeat of our own that is under way goes on. */
function onKept(state: Held, { sentAt }: EventOf<'kept'>, context: EventContext): Transition {
  if (sentAt <= state.confirmedAt) return quiet(state)
  const { phase, grant, validUntil, call, update, changed, hasOtherTtl } = state
  const effects: EngineEffect[] = [{ type: 'renewed', grant, latency: undefined, validUntil }]
  if (phase === 'jeopardy') effects.push({ type: 'recovered', grant })
  return { state: { ...becomeHeld(state, sentAt, context, 0), call, update, changed, hasOtherTtl }, effects }
}

function onConfirmed(state: Held, context: EventContext): Transition {
  const { call, grant, validUntil } = state
  if (call === undefined) return quiet(state)
  const effects: EngineEffect[] = [{ type: 'renewed', grant, latency: context.now - call.sentAt, validUntil }]
  if (state.phase === 'jeopardy') effects.push({ type: 'recovered', grant })
  if (call.method === 'update') effects.push({ type: 'updated' })
  const update = call.method === 'update' ? undefined : state.update
  const isSettled = state.changed !== true && update === undefined
  const early = state.phase === 'jeopardy' ? SPREAD * context.random() : 0
  const renewed = becomeHeld(state, call.sentAt, context, early)
  if (isSettled) return { state: renewed, effects }
  // The change, or the update, may have come after the store had renewed the grant.
  const looks = context.rules.manual && update === undefined
  const next = looks ? sendRead(renewed, context) : sendHeartbeat({ ...renewed, update }, context.now, context)
  return { state: next.state, effects: [...effects, ...next.effects] }
}

/** An update that certainly failed is not repeated, but the heartbeat that carried it is. */
function onFailure(state: Held, { error, definitive }: EventOf<'failure'>, context: EventContext): Transition {
  if (state.call?.method === 'read') return endRead(state, context)
  const isRefused = definitive && state.call?.method === 'update'
  const next = onFailedHeartbeat(isRefused ? { ...state, update: undefined } : state, error, context)
  return isRefused ? { state: next.state, effects: [...next.effects, { type: 'updated', error }] } : next
}

/** A failed heartbeat does not end the grant: it is repeated within the validity that is left. */
function onFailedHeartbeat(state: Held, error: unknown, context: EventContext): Transition {
  const { rules, now, random } = context
  const failures = state.failures + 1
  // A renewal by hand is not repeated by itself; an update is, and so is the claim that sets our own ttl.
  const isRepeated = !rules.manual || state.update !== undefined || state.hasOtherTtl === true
  const pause = isRepeated ? retryPause(rules, failures, state.validUntil - now, random, askedPause(error)) : undefined
  // Leases whose heartbeats failed together repeat them together: each alone would cost the server many times as much.
  const heartbeatAt = pause === undefined ? Number.POSITIVE_INFINITY : context.shared(now + pause, now)
  const latency = state.call === undefined ? 0 : now - state.call.sentAt
  return {
    state: {
      ...state,
      phase: 'jeopardy',
      call: undefined,
      heartbeatAt,
      failures,
      failure: error,
      hasStray: mayHaveStray(state),
    },
    effects: [{ type: 'jeopardy', cause: error, latency, begins: state.phase === 'held' }],
  }
}

function expire(state: Held, context: EventContext): Transition {
  const { failure } = state
  const cause = failure === undefined ? {} : { cause: failure }
  return lose(state, { reason: whyExpired(state, context), ...cause }, true)
}

function whyExpired(state: Held, { suspended, isUnresponsive }: EventContext): LeaseLostReason {
  if (state.validUntil === state.holdUntil) return 'max-hold'
  if (isUnresponsive) return 'unresponsive'
  return suspended > state.suspended ? 'suspended' : 'expired'
}

/** Whether a request may still reach the store after the grant has ended: a claim without an answer may. */
function mayHaveStray({ hasStray, call }: Held): boolean {
  return hasStray || call?.method === 'acquire'
}

/** `left`: whether the store may still have the grant, so that it is to be freed there. */
function lose(state: Held, lost: Extract<EngineEffect, { type: 'lost' }>['lost'], left: boolean): Transition {
  const { grant } = state
  const hasStray = mayHaveStray(state)
  const effects: EngineEffect[] = state.call === undefined ? [] : [{ type: 'abort' }]
  if (left || hasStray) {
    effects.push({ type: 'cleanup', grantId: grant.grantId, grant: left ? grant : undefined, hasStray })
  }
  effects.push({ type: 'lost', grant, lost })
  return { state: { phase: 'idle', op: state.op }, effects }
}

/** How a grant is left: see the events `release` and `hand-off`. */
interface Leaving {
  readonly metadata?: Metadata | undefined
  readonly hasChildren?: boolean | undefined
}

/** Ends validity at once, and then the heartbeat that is under way: its answer is stale from here on. */
function leave(
  state: Held,
  to: HandOffTarget | undefined,
  { metadata, hasChildren }: Leaving,
  context: EventContext,
): Transition {
  const releasing: Releasing = {
    phase: 'releasing',
    op: state.op,
    grant: state.grant,
    to,
    metadata,
    call: undefined,
    retryAt: Number.POSITIVE_INFINITY,
    limitAt: Number.POSITIVE_INFINITY,
    failures: 0,
    failure: undefined,
    hasStray: mayHaveStray(state),
  }
  const next = hasChildren === true ? quiet({ ...releasing, hasChildren }) : sendRelease(releasing, context)
  return abortCall(state.call, next)
}
