import { type EngineState, heldIn } from './engine-state.js'
import { grantValidity } from './from-held.js'
import type { KeptGrant } from './grant-keeper.js'
import type { LeaseRules } from './lease-rules.js'

/** The state, with the end of the validity as the keeper of the grant knows it. */
export function keptState(state: EngineState, kept: KeptGrant, rules: LeaseRules): EngineState {
  const held = heldIn(state)
  if (held === undefined) return state
  if (kept.isOver) return { ...held, validUntil: Number.NEGATIVE_INFINITY }
  const { confirmedAt } = kept
  if (confirmedAt <= held.confirmedAt) return state
  return { ...held, validUntil: Math.min(confirmedAt + grantValidity(held.grant, rules), held.holdUntil) }
}
