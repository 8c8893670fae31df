import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { shownValue } from '../errors/shown-value.js'
import { callGuarded } from '../user-code/guarded-calls.js'
import type { HeartbeatPlan, RenewalStrategy, RenewalTimes } from './renewal-strategy.js'

/** The plan of a strategy. A strategy that throws, or returns no plan, is replaced by `heartbeatInterval` this time. */
export function planHeartbeat(
  timeouts: RenewalTimes & { readonly strategy: RenewalStrategy },
  jitter: number,
  reporter: { report(error: unknown): void },
): HeartbeatPlan {
  const { strategy, heartbeatInterval, operationTimeout } = timeouts
  let plan: unknown
  // No closures here, because this runs for each heartbeat.
  try {
    plan = strategy.plan(timeouts, jitter)
  } catch (error) {
    reporter.report(error)
  }
  const { after, attemptTimeout } = Object(plan) as Partial<HeartbeatPlan>
  if (isDuration(after) && isDuration(attemptTimeout)) return { after, attemptTimeout }
  const report = (error: unknown): void => reporter.report(error)
  // The plan may be a promise, whose rejection is reported.
  callGuarded(() => plan, report)
  const given = `{ after: ${shownValue(after)}, attemptTimeout: ${shownValue(attemptTimeout)} }`
  report(
    new LeaseConfigurationError(`strategy.plan() must return { after, attemptTimeout } in milliseconds, not ${given}`),
  )
  return { after: heartbeatInterval, attemptTimeout: operationTimeout }
}

function isDuration(value: unknown): value is number {
  return typeof value === 'number' && value > 0
}
