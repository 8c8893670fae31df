import type { RegisterCall } from '../../src/checks/register/register-call.js'

interface State {
  readonly largest: bigint
  readonly value: string | undefined
}

/** Tries all orders of the calls of a guarded register, in the plainest way. */
export function isLinearizable(
  calls: readonly RegisterCall[],
  state: State = { largest: -1n, value: undefined },
): boolean {
  if (calls.every(({ outcome }) => outcome === 'unknown')) return true
  const firstEnd = Math.min(...calls.map(({ to, outcome }) => (outcome === 'unknown' ? Infinity : to)))
  return calls.some((call, place) => {
    if (call.from > firstEnd) return false
    const rest = calls.toSpliced(place, 1)
    return statesAfter(call, state).some((next) => isLinearizable(rest, next))
  })
}

/** None where the call cannot have this outcome in this state. */
function statesAfter(call: RegisterCall, state: State): State[] {
  if (call.call === 'read') return call.outcome === 'unknown' || call.value === state.value ? [state] : []
  const isAccepted = call.token >= state.largest
  if (call.outcome === 'refused') return isAccepted ? [] : [state]
  // Without an effect, a write with an unknown outcome can come last.
  if (!isAccepted) return []
  const written = { largest: call.token, value: call.value }
  return call.outcome === 'unknown' ? [written, { ...state, largest: call.token }] : [written]
}
