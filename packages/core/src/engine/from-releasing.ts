import type { LeaseRecord } from '../store/lease-record.js'
import {
  abortCall,
  type EngineEffect,
  quiet,
  type ReleaseResult,
  type StoreRequest,
  type Transition,
} from './engine-effect.js'
import type { EngineEvent, EventOf } from './engine-event.js'
import { awaits, type Releasing } from './engine-state.js'
import type { EventContext } from './event-context.js'
import { timedOut } from './failures.js'
import { retryPause } from './pauses.js'

/** The transition of a lease that is being released or handed off. Its owner no longer acts, whatever the outcome. */
export function fromReleasing(state: Releasing, event: EngineEvent, context: EventContext): Transition {
  if ('op' in event && !awaits(state, event.op)) return quiet(state)
  switch (event.type) {
    case 'release-answer':
      return end(state, { ended: !event.outcome.released && event.outcome.holder !== undefined ? 'held' : 'gone' })
    case 'acquire-answer':
      if (event.outcome.granted) return end(state, { ended: 'handed-off', grant: event.outcome.grant })
      return end(state, { ended: 'held' }, event.outcome.left === true ? takeBackPassed(state) : [])
    case 'read-answer':
      return onRead(state, event.record, context)
    case 'failure':
      return onFailure(state, event, context)
    case 'store-closed':
      return abortCall(state.call, giveUp(state, event.error))
    case 'tick':
      return onTick(state, context)
    case 'children-released':
      if (state.hasChildren !== true || event.grantId !== state.grant.grantId) return quiet(state)
      return sendRelease({ ...state, hasChildren: undefined }, context)
    default:
      return quiet(state)
  }
}

/** Sends the release or the hand-off. The time limit of both begins with the first request. */
export function sendRelease(state: Releasing, { rules, now }: EventContext): Transition {
  const { grant, to, metadata } = state
  const limitAt = Math.min(state.limitAt, now + rules.operationTimeout)
  const { state: next, effects } = send(
    state,
    to === undefined
      ? { method: 'release', grant, metadata }
      : { method: 'change', grant, to: { grantId: to.grantId, owner: to.owner } },
    limitAt,
  )
  return to?.isWaiter === true
    ? { state: next, effects: [{ type: 'passed', grantId: to.grantId }, ...effects] }
    : { state: next, effects }
}

function send(state: Releasing, request: StoreRequest, limitAt = state.limitAt): Transition {
  const op = state.op + 1
  return {
    state: { ...state, op, call: request.method, limitAt },
    effects: [{ type: 'call', op, request }],
  }
}

/** Settles a hand-off whose response was lost, by the grant id that the record bears. */
function onRead(state: Releasing, record: LeaseRecord | undefined, context: EventContext): Transition {
  if (record?.grantId === state.to?.grantId && record !== undefined) {
    const { name, owner, grantId, fencingToken, ttl = state.grant.ttl } = record
    return end(state, { ended: 'handed-off', grant: { name, owner, grantId, fencingToken, ttl } })
  }
  if (record?.grantId === state.grant.grantId) return repeat(state, context)
  return end(state, { ended: 'held' })
}

function onFailure(state: Releasing, { error, definitive }: EventOf<'failure'>, context: EventContext): Transition {
  if (definitive) return giveUp(state, error)
  const failed = { ...state, failures: state.failures + 1, failure: error }
  // A change is not repeated blindly: if it took effect, our grant is no longer the one in force.
  if (state.call === 'change') return send(failed, { method: 'read' })
  return repeat(failed, context)
}

function repeat(state: Releasing, { rules, now, random }: EventContext): Transition {
  const { limitAt } = state
  const pause = retryPause(rules, Math.max(state.failures, 1), limitAt - now, random)
  return quiet({ ...state, call: undefined, retryAt: Math.min(now + pause, limitAt) })
}

function onTick(state: Releasing, context: EventContext): Transition {
  const { rules, now } = context
  if (now >= state.limitAt) {
    const asked = state.to === undefined ? 'release' : 'hand-off'
    const ended = giveUp(state, state.failure ?? timedOut(rules, asked, rules.operationTimeout))
    return abortCall(state.call, ended)
  }
  return state.call !== undefined || now < state.retryAt ? quiet(state) : sendRelease(state, context)
}

/** Ends the release with an unknown outcome. The grant is freed in the background, for as long as it can last. */
function giveUp(state: Releasing, error: unknown): Transition {
  const { op, grant, hasStray } = state
  const own: EngineEffect = { type: 'cleanup', grantId: grant.grantId, grant, hasStray }
  return {
    state: { phase: 'idle', op },
    effects: [own, ...takeBackPassed(state), { type: 'released', result: { ended: 'unknown', error } }],
  }
}

/** Nobody uses the grant of a hand-off before its adoption. A waiter may use its grant by now. */
function takeBackPassed({ to }: Releasing): readonly EngineEffect[] {
  if (to === undefined || to.isWaiter === true) return []
  return [{ type: 'cleanup', grantId: to.grantId, grant: undefined, hasStray: true }]
}

function end(
  { op, grant, hasStray }: Releasing,
  result: ReleaseResult,
  leftovers: readonly EngineEffect[] = [],
): Transition {
  const effects: EngineEffect[] = [...leftovers, { type: 'released', result }]
  if (hasStray) effects.unshift({ type: 'cleanup', grantId: grant.grantId, grant: undefined, hasStray })
  return { state: { phase: 'idle', op }, effects }
}
