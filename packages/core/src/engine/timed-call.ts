import type { Clock } from '../clock.js'
import { timedOut, toLeaseError } from './failures.js'
import type { LeaseRules } from './lease-rules.js'

/**
 * Makes one call to the store beside those of the life cycle, within the time limit of a call. Rejects with a
 * `LeaseError` when it fails or is late; whether it took effect is then unknown.
 */
export async function callWithin<T>(
  rules: LeaseRules,
  clock: Clock,
  method: string,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { operationTimeout } = rules
  const controller = new AbortController()
  let cancel = (): void => {}
  const late = new Promise<never>((_, reject) => {
    cancel = clock.schedule(operationTimeout, () => {
      const error = timedOut(rules, method, operationTimeout)
      controller.abort(error)
      reject(error)
    })
  })
  try {
    return await Promise.race([call(controller.signal), late])
  } catch (error) {
    throw toLeaseError(rules, method, error)
  } finally {
    cancel()
  }
}
