import type { Grant } from '@leasehold/core'
import type { Transition } from '../../src/engine/engine-effect.js'
import type { EngineEvent } from '../../src/engine/engine-event.js'
import type { Acquiring, EngineState, Held, Releasing } from '../../src/engine/engine-state.js'
import type { EventContext } from '../../src/engine/event-context.js'
import { transition } from '../../src/engine/transition.js'
import { validityOf } from '../../src/time/validity.js'
import { rules } from './rules.js'

/** Not random: every pause has its full length. */
export const longest = () => 1

export const grant: Grant = { name: 'job', owner: 'me', grantId: 'mine', fencingToken: 3n, ttl: rules.ttl }

/** The result of a transition at a given time. */
export function after(
  state: EngineState,
  event: EngineEvent,
  now: number,
  context: Partial<EventContext> = {},
): Transition {
  const plan = () => ({ after: rules.heartbeatInterval, attemptTimeout: rules.operationTimeout })
  const shared = (at: number) => at
  const usual = { rules, now, suspended: 0, random: longest, isParentLost: false, isUnresponsive: false, plan, shared }
  return transition(state, event, { ...usual, ...context })
}

/** A claim that was sent at 0 and has no answer. */
export function acquiring(changes: Partial<Acquiring> = {}): Acquiring {
  return {
    phase: 'acquiring',
    op: 1,
    grantId: 'mine',
    queue: false,
    adopted: undefined,
    call: { method: 'acquire', sentAt: 0, limitAt: rules.operationTimeout },
    sentAt: 0,
    firstSentAt: 0,
    retryAt: Number.POSITIVE_INFINITY,
    woken: false,
    refusals: 0,
    failures: 0,
    failure: undefined,
    uncertainSince: undefined,
    ...changes,
  }
}

/** A grant that was confirmed by a claim sent at 0; no heartbeat is planned. */
export function held(changes: Partial<Held> = {}): Held {
  return {
    phase: 'held',
    op: 1,
    grant,
    confirmedAt: 0,
    validUntil: validityOf(rules.ttl),
    holdUntil: Number.POSITIVE_INFINITY,
    suspended: 0,
    call: undefined,
    heartbeatAt: Number.POSITIVE_INFINITY,
    attemptTimeout: rules.operationTimeout,
    hasOtherTtl: undefined,
    update: undefined,
    changed: undefined,
    failures: 0,
    failure: undefined,
    hasStray: false,
    ...changes,
  }
}

/** A grant with a release in progress, which is the second call to the store. */
export function releasing(changes: Partial<Releasing> = {}): Releasing {
  return {
    phase: 'releasing',
    op: 2,
    grant,
    to: undefined,
    metadata: undefined,
    call: 'release',
    retryAt: Number.POSITIVE_INFINITY,
    limitAt: rules.operationTimeout,
    failures: 0,
    failure: undefined,
    hasStray: false,
    ...changes,
  }
}
