import { type EngineEffect, quiet, type ReleaseResult, type StoreRequest, type Transition } from './engine-effect.js'
import type { EngineEvent } from './engine-event.js'
import { awaits, type Releasing } from './engine-state.js'
import type { EventContext } from './event-context.js'
import { timedOut } from './failures.js'
import type { LeaseRules } from './lease-rules.js'
import { retryPause } from './pauses.js'

type Answer<T extends EngineEvent['type']> = Extract<EngineEvent, { type: T }>

/** A release or a hand-off was asked for: the owner no longer acts, whatever comes of it. */
export function fromReleasing(
  rules: LeaseRules,
  state: Releasing,
  event: EngineEvent,
  context: EventContext,
): Transition {
  switch (event.type) {
    case 'release-answer':
      return onReleased(state, event)
    case 'acquire-answer':
      return onChanged(state, event)
    case 'read-answer':
      return onRead(rules, state, event, context)
    case 'failure':
      return onFailure(rules, state, event, context)
    case 'store-closed':
      return abortCall(state, giveUp(state, event.error))
    case 'limit':
      return quiet({ ...state, limitAt: limitOf(rules, state, context) })
    case 'tick':
      return onTick(rules, state, context)
    default:
      return quiet(state)
  }
}

export function sendRelease(state: Releasing): Transition {
  const { grant, to, metadata } = state
  return send(state, to === undefined ? { method: 'release', grant, metadata } : { method: 'change', grant, to })
}

function send(state: Releasing, request: StoreRequest): Transition {
  const op = state.op + 1
  return {
    state: { ...state, op, call: request.method },
    effects: [{ type: 'call', op, request }],
  }
}

function onReleased(state: Releasing, { op, outcome }: Answer<'release-answer'>): Transition {
  if (!awaits(state, op)) return quiet(state)
  const held = !outcome.released && outcome.holder !== undefined
  return end(state, { ended: held ? 'held' : 'gone' })
}

function onChanged(state: Releasing, { op, outcome }: Answer<'acquire-answer'>): Transition {
  if (!awaits(state, op)) return quiet(state)
  return end(state, outcome.granted ? { ended: 'handed-off', grant: outcome.grant } : { ended: 'held' })
}

/** Settles a hand-off whose response was lost, by the grant id that the record bears. */
function onRead(
  rules: LeaseRules,
  state: Releasing,
  { op, record }: Answer<'read-answer'>,
  context: EventContext,
): Transition {
  if (!awaits(state, op)) return quiet(state)
  if (record?.grantId === state.to?.grantId && record !== undefined) {
    const { name, owner, grantId, fencingToken, ttl } = record
    return end(state, { ended: 'handed-off', grant: { name, owner, grantId, fencingToken, ttl } })
  }
  if (record?.grantId === state.grant.grantId) return repeat(rules, state, context)
  return end(state, { ended: 'held' })
}

function onFailure(
  rules: LeaseRules,
  state: Releasing,
  { op, error, definitive }: Answer<'failure'>,
  context: EventContext,
): Transition {
  if (!awaits(state, op)) return quiet(state)
  if (definitive) return giveUp(state, error)
  const failed = { ...state, failures: state.failures + 1, failure: error }
  // A change is not repeated blindly: if it took effect, our grant is no longer the one in force.
  if (state.call === 'change') return send(failed, { method: 'read' })
  return repeat(rules, failed, context)
}

function repeat(rules: LeaseRules, state: Releasing, context: EventContext): Transition {
  const { now, random } = context
  const limitAt = limitOf(rules, state, context)
  const pause = retryPause(rules, Math.max(state.failures, 1), limitAt - now, random)
  return quiet({ ...state, call: undefined, retryAt: Math.min(now + pause, limitAt), limitAt })
}

function limitOf(rules: LeaseRules, { limitAt }: Releasing, { now }: EventContext): number {
  return limitAt ?? now + rules.operationTimeout
}

function onTick(rules: LeaseRules, state: Releasing, { now }: EventContext): Transition {
  if (state.limitAt !== undefined && now >= state.limitAt) {
    const asked = state.to === undefined ? 'release' : 'hand-off'
    const ended = giveUp(state, state.failure ?? timedOut(rules, asked, rules.operationTimeout))
    return abortCall(state, ended)
  }
  return state.call !== undefined || now < state.retryAt ? quiet(state) : sendRelease(state)
}

function abortCall({ call }: Releasing, next: Transition): Transition {
  return call === undefined ? next : { state: next.state, effects: [{ type: 'abort' }, ...next.effects] }
}

/** Unknown: the rest is done in the background, for as long as the grant can last. */
function giveUp(state: Releasing, error: unknown): Transition {
  const { op, grant, to, hasStray } = state
  const effects: EngineEffect[] = [{ type: 'cleanup', grantId: grant.grantId, grant, hasStray }]
  if (to !== undefined) effects.push({ type: 'cleanup', grantId: to.grantId, grant: undefined, hasStray: true })
  return {
    state: { phase: 'idle', op },
    effects: [...effects, { type: 'released', result: { ended: 'unknown', error } }],
  }
}

function end({ op, grant, hasStray }: Releasing, result: ReleaseResult): Transition {
  const effects: EngineEffect[] = [{ type: 'released', result }]
  if (hasStray) effects.unshift({ type: 'cleanup', grantId: grant.grantId, grant: undefined, hasStray })
  return { state: { phase: 'idle', op }, effects }
}
