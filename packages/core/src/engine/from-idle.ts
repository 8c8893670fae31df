import { quiet, type Transition } from './engine-effect.js'
import type { Circumstances, EngineEvent } from './engine-event.js'
import type { Idle } from './engine-state.js'
import { sendClaim } from './from-acquiring.js'
import type { LeaseRules } from './lease-rules.js'

/** Nothing is held and nothing asked for: only a new claim changes that. */
export function fromIdle(rules: LeaseRules, state: Idle, event: EngineEvent, { now }: Circumstances): Transition {
  if (event.type !== 'acquire') return quiet(state)
  return sendClaim(rules, now, {
    phase: 'acquiring',
    op: state.op,
    grantId: event.grantId,
    queue: event.queue,
    adopted: event.adopted,
    call: undefined,
    sentAt: now,
    retryAt: Number.POSITIVE_INFINITY,
    woken: false,
    refusals: 0,
    failures: 0,
    failure: undefined,
    uncertain: false,
  })
}
