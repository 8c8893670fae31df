import { quiet, type Transition } from './engine-effect.js'
import type { EngineEvent } from './engine-event.js'
import type { Idle } from './engine-state.js'
import type { EventContext } from './event-context.js'
import { sendClaim } from './from-acquiring.js'
import type { LeaseRules } from './lease-rules.js'

/** Nothing is held and nothing asked for: only a new claim changes that. */
export function fromIdle(rules: LeaseRules, state: Idle, event: EngineEvent, { now }: EventContext): Transition {
  if (event.type !== 'acquire') return quiet(state)
  const { grantId, queue, adopted } = event
  return sendClaim(rules, now, state.op, { grantId, queue, adopted })
}
