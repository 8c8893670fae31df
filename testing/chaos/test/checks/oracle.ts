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
    const next = apply(call, state)
    return next !== undefined && isLinearizable(calls.toSpliced(place, 1), next)
  })
}

/** `undefined` where the call cannot have this outcome in this state. */
function apply(call: RegisterCall, state: State): State | undefined {
  if (call.call === 'read') return call.outcome === 'unknown' || call.value === state.value ? state : undefined
  const isAccepted = call.token >= state.largest
  if (call.outcome === 'refused') return isAccepted ? undefined : state
  // Without an effect, a write with an unknown outcome can come last.
  return isAccepted ? { largest: call.token, value: call.value } : undefined
}
