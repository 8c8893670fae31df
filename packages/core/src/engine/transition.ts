import { quiet, type Transition } from './engine-effect.js'
import type { EngineEvent } from './engine-event.js'
import type { EngineState, Idle } from './engine-state.js'
import type { EventContext } from './event-context.js'
import { parentLost } from './failures.js'
import { fromAcquiring, sendClaim } from './from-acquiring.js'
import { fromHeld } from './from-held.js'
import { fromReleasing } from './from-releasing.js'

/**
 * The life cycle of a lease as one pure function: takes the state and an event, returns the next state and the effects to
 * carry out. It reads no clock, draws no random number and does no I/O.
 */
export function transition(state: EngineState, event: EngineEvent, context: EventContext): Transition {
  switch (state.phase) {
    case 'idle':
      return fromIdle(state, event, context)
    case 'acquiring':
      return fromAcquiring(state, event, context)
    case 'releasing':
      return fromReleasing(state, event, context)
    default:
      return fromHeld(state, event, context)
  }
}

/** Nothing is held and nothing asked for: only a new claim changes that. */
function fromIdle(state: Idle, event: EngineEvent, context: EventContext): Transition {
  if (event.type !== 'acquire') return quiet(state)
  if (context.isParentLost) {
    return { state, effects: [{ type: 'failed', error: parentLost(context.rules), definitive: true }] }
  }
  const { grantId, queue, adopted, offered } = event
  return sendClaim(state.op, { grantId, queue, adopted, offered }, context)
}
