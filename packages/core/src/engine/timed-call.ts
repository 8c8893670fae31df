import { AbortableCall, type StoreCall } from '../store/store-call.js'
import type { Clock } from '../time/clock.js'
import { inTime } from '../time/in-time.js'
import { invalidAnswer, timedOut, toLeaseError } from './failures.js'
import type { LeaseRules } from './lease-rules.js'
import { faultOfAnswer } from './store-answers.js'

/**
 * Makes one call to the store beside those of the life cycle, within the time limit of a call. Rejects with a
 * `LeaseError` when it fails or is late; whether it took effect is then unknown.
 */
export async function callWithin<T>(
  rules: LeaseRules,
  clock: Clock,
  method: 'read' | 'release' | 'withdraw',
  ask: (call: StoreCall) => Promise<T>,
): Promise<T> {
  const { operationTimeout } = rules
  const call = new AbortableCall(operationTimeout)
  const late = (): never => {
    const error = timedOut(rules, method, operationTimeout)
    call.abort(error)
    throw error
  }
  try {
    const answer = await inTime(clock, operationTimeout, ask(call), late)
    const fault = method === 'withdraw' ? undefined : faultOfAnswer(method, answer)
    if (fault !== undefined) throw invalidAnswer(rules, method, fault)
    return answer
  } catch (error) {
    throw toLeaseError(rules, method, error)
  }
}
