import { LeaseConfigurationError, type LeaseLost } from '@leasehold/core'
import { shownValue } from '@leasehold/core/internal'

/** The decision after a loss. */
export type LossPolicy = 'stop' | 'reacquire'

/** Returns the decision about a loss. Never throws: if the function of the user fails, logs the error and returns `stop`. */
export function decideAfter(
  lost: LeaseLost,
  policy: LossPolicy | ((lost: LeaseLost) => unknown),
  log: (message: string, error: unknown) => void,
): LossPolicy {
  if (typeof policy !== 'function') return policy
  try {
    const decision = policy(lost)
    if (decision === 'stop' || decision === 'reacquire') return decision
    Promise.resolve(decision).then(undefined, () => {})
    throw new LeaseConfigurationError(`onLeaseLost must return 'stop' or 'reacquire', not ${shownValue(decision)}`)
  } catch (error) {
    log('onLeaseLost failed, so the actor ends', error)
    return 'stop'
  }
}
