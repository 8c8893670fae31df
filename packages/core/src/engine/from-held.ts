import type { LeaseLostReason } from '../lease-lost.js'
import type { HeartbeatPlan } from '../renewal/renewal-strategy.js'
import type { Grant, Metadata } from '../store/lease-record.js'
import { validityOf } from '../validity.js'
import { type EngineEffect, quiet, type StoreRequest, type Transition } from './engine-effect.js'
import type { EngineEvent } from './engine-event.js'
import { type Acquiring, awaits, type HandOffTarget, type Held, isUnplanned } from './engine-state.js'
import type { EventContext } from './event-context.js'
import { askedPause, timedOut } from './failures.js'
import { sendRelease } from './from-releasing.js'
import type { LeaseRules } from './lease-rules.js'
import { retryPause } from './pauses.js'

type Answer<T extends EngineEvent['type']> = Extract<EngineEvent, { type: T }>

/** However late a strategy plans a heartbeat, one attempt is made within this part of the validity. */
const LATEST_HEARTBEAT = 0.95

/** The lease is held, with or without its last heartbeat confirmed. */
export function fromHeld(rules: LeaseRules, state: Held, event: EngineEvent, context: EventContext): Transition {
  // A release asked for ends the grant without a word of loss, though its validity may be over.
  if (event.type === 'release') return leave(state, undefined, event.metadata)
  if (context.now >= state.validUntil) return expire(state, context)
  switch (event.type) {
    case 'tick':
      return onTick(rules, state, context)
    case 'renew-answer':
      return onRenewed(rules, state, event, context)
    case 'failure':
      if (!awaits(state, event.op)) return quiet(state)
      return onFailure(rules, state, event, context)
    case 'plan':
      return onPlan(state, event.plan)
    case 'changed':
      if (state.call !== undefined) return quiet({ ...state, changed: true })
      return sendHeartbeat(rules, state, context.now, context.now)
    case 'update':
      if (state.call !== undefined) return quiet({ ...state, update: event.metadata })
      return sendHeartbeat(rules, { ...state, update: event.metadata }, context.now, context.now)
    case 'hand-off':
      return leave(state, event.to, undefined)
    case 'store-closed':
      return lose(state, { reason: 'closed' }, true)
    case 'end':
      return lose(state, { reason: event.reason }, true)
    default:
      return quiet(state)
  }
}

/** The state in which a grant is held that was confirmed by the claim sent at `sentAt`. */
export function becomeHeld(
  rules: LeaseRules,
  { op, sentAt }: Pick<Acquiring, 'op' | 'sentAt'>,
  grant: Grant,
  hasStray: boolean,
  context: EventContext,
): Held {
  return confirmed(rules, { op, grant, holdUntil: sentAt + rules.maxHold, hasStray }, sentAt, context)
}

/** Held, by a request that was sent at `sentAt` and confirmed. */
function confirmed(
  rules: LeaseRules,
  { op, grant, holdUntil, hasStray }: Pick<Held, 'op' | 'grant' | 'holdUntil' | 'hasStray'>,
  sentAt: number,
  { suspended }: EventContext,
): Held {
  return {
    phase: 'held',
    op,
    grant,
    confirmedAt: sentAt,
    validUntil: endOfValidity(rules, grant, sentAt, holdUntil),
    holdUntil,
    suspended,
    call: undefined,
    heartbeatAt: undefined,
    attemptTimeout: rules.operationTimeout,
    failures: 0,
    failure: undefined,
    hasStray,
  }
}

/** Validity counts from the instant at which the confirmed request was sent, on our own clock. */
function endOfValidity(rules: LeaseRules, grant: Grant, sentAt: number, holdUntil: number): number {
  return Math.min(sentAt + validityOf(Math.min(rules.ttl, grant.ttl)), holdUntil)
}

function onPlan(state: Held, { after, attemptTimeout }: HeartbeatPlan): Transition {
  if (!isUnplanned(state)) return quiet(state)
  const { confirmedAt, validUntil } = state
  const latest = (validUntil - confirmedAt) * LATEST_HEARTBEAT
  const heartbeatAt = confirmedAt + (after > 0 ? Math.min(after, latest) : latest / 2)
  return quiet({ ...state, heartbeatAt, attemptTimeout })
}

function onTick(rules: LeaseRules, state: Held, context: EventContext): Transition {
  const { now } = context
  if (state.call !== undefined) {
    if (now < state.call.limitAt) return quiet(state)
    const error = timedOut(rules, 'heartbeat', now - state.call.sentAt)
    const next = onFailedHeartbeat(rules, state, error, context)
    return { state: next.state, effects: [{ type: 'abort' }, ...next.effects] }
  }
  if (state.heartbeatAt === undefined || now < state.heartbeatAt) return quiet(state)
  return sendHeartbeat(rules, state, state.heartbeatAt, now)
}

function sendHeartbeat(rules: LeaseRules, state: Held, dueAt: number, now: number): Transition {
  const op = state.op + 1
  const { grant, update } = state
  const request: StoreRequest =
    update === undefined ? { method: 'renew', grant } : { method: 'update', grant, metadata: update }
  const effects: EngineEffect[] = [{ type: 'call', op, request }]
  const late = state.phase === 'held' && now > dueAt + rules.operationTimeout
  if (late) effects.push({ type: 'jeopardy', cause: undefined, latency: undefined, begins: true })
  const limitAt = Math.min(now + state.attemptTimeout, state.validUntil)
  return {
    state: {
      ...state,
      phase: late ? 'jeopardy' : state.phase,
      op,
      call: { method: request.method, sentAt: now, limitAt },
      changed: undefined,
    },
    effects,
  }
}

function onRenewed(
  rules: LeaseRules,
  state: Held,
  { op, outcome }: Answer<'renew-answer'>,
  context: EventContext,
): Transition {
  const { call, grant } = state
  if (!awaits(state, op) || call === undefined) return quiet(state)
  if (!outcome.renewed) {
    const { reason, holder } = outcome
    return lose(state, { reason, ...(holder === undefined ? {} : { owner: holder.owner }) }, false)
  }
  const effects: EngineEffect[] = [{ type: 'renewed', grant, latency: context.now - call.sentAt }]
  if (state.phase === 'jeopardy') effects.push({ type: 'recovered', grant })
  if (call.method === 'update') effects.push({ type: 'updated' })
  const update = call.method === 'update' ? undefined : state.update
  const renewed = confirmed(rules, state, call.sentAt, context)
  if (state.changed !== true && update === undefined) return { state: renewed, effects }
  // The change, or the update, may have come after the store had renewed the grant.
  const next = sendHeartbeat(rules, { ...renewed, update }, context.now, context.now)
  return { state: next.state, effects: [...effects, ...next.effects] }
}

/** An update that certainly failed is not repeated; the heartbeat that it was is. */
function onFailure(
  rules: LeaseRules,
  state: Held,
  { error, definitive }: Answer<'failure'>,
  context: EventContext,
): Transition {
  const isRefused = definitive && state.call?.method === 'update'
  const next = onFailedHeartbeat(rules, isRefused ? { ...state, update: undefined } : state, error, context)
  return isRefused ? { state: next.state, effects: [...next.effects, { type: 'updated', error }] } : next
}

/** Unknown is not lost: the heartbeat is repeated inside the validity that is left. */
function onFailedHeartbeat(rules: LeaseRules, state: Held, error: unknown, context: EventContext): Transition {
  const { now, random } = context
  const failures = state.failures + 1
  const heartbeatAt = now + retryPause(rules, failures, state.validUntil - now, random, askedPause(error))
  const latency = state.call === undefined ? 0 : now - state.call.sentAt
  return {
    state: { ...state, phase: 'jeopardy', call: undefined, heartbeatAt, failures, failure: error },
    effects: [{ type: 'jeopardy', cause: error, latency, begins: state.phase === 'held' }],
  }
}

function expire(state: Held, { suspended }: EventContext): Transition {
  return lose(state, { reason: whyExpired(state, suspended), ...causeOf(state) }, true)
}

function whyExpired(state: Held, suspended: number): LeaseLostReason {
  if (state.validUntil === state.holdUntil) return 'max-hold'
  return suspended > state.suspended ? 'suspended' : 'expired'
}

function causeOf({ failure }: Held): { cause?: unknown } {
  return failure === undefined ? {} : { cause: failure }
}

/** `left`: whether the store may still have the grant, so that it is to be freed there. */
function lose(state: Held, lost: Extract<EngineEffect, { type: 'lost' }>['lost'], left: boolean): Transition {
  const { grant, hasStray } = state
  const effects: EngineEffect[] = state.call === undefined ? [] : [{ type: 'abort' }]
  if (left || hasStray) {
    effects.push({ type: 'cleanup', grantId: grant.grantId, grant: left ? grant : undefined, hasStray })
  }
  effects.push({ type: 'lost', grant, lost })
  return { state: { phase: 'idle', op: state.op }, effects }
}

/** Ends validity at once, and then the heartbeat that is under way: its answer is stale from here on. */
function leave(state: Held, to: HandOffTarget | undefined, metadata: Metadata | undefined): Transition {
  const next = sendRelease({
    phase: 'releasing',
    op: state.op,
    grant: state.grant,
    to,
    metadata,
    call: undefined,
    retryAt: Number.POSITIVE_INFINITY,
    limitAt: undefined,
    failures: 0,
    failure: undefined,
    hasStray: state.hasStray,
  })
  if (state.call === undefined) return next
  return { state: next.state, effects: [{ type: 'abort' }, ...next.effects] }
}
