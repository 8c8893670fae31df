import type { Transition } from './engine-effect.js'
import type { EngineEvent } from './engine-event.js'
import type { EngineState } from './engine-state.js'
import type { EventContext } from './event-context.js'
import { fromAcquiring } from './from-acquiring.js'
import { fromHeld } from './from-held.js'
import { fromIdle } from './from-idle.js'
import { fromReleasing } from './from-releasing.js'
import type { LeaseRules } from './lease-rules.js'

/**
 * The life cycle of a lease as one pure function: takes the state and an event, returns the next state and the effects to
 * carry out. It reads no clock, draws no random number and does no I/O.
 */
export function transition(
  rules: LeaseRules,
  state: EngineState,
  event: EngineEvent,
  context: EventContext,
): Transition {
  switch (state.phase) {
    case 'idle':
      return fromIdle(rules, state, event, context)
    case 'acquiring':
      return fromAcquiring(rules, state, event, context)
    case 'releasing':
      return fromReleasing(rules, state, event, context)
    default:
      return fromHeld(rules, state, event, context)
  }
}
