import type { HeartbeatPlan, RenewalStrategy, RenewalTimes } from './renewal-strategy.js'

/** The part of a waiting time that the jitter may take off, so that holders that renewed together drift apart. */
const JITTER = 0.05

/** Akka's strategy, and the default: a heartbeat every `heartbeatInterval`. */
export function intervalStrategy(): RenewalStrategy {
  return { name: 'interval', check, plan: planInterval }
}

function check({ heartbeatInterval, heartbeatTimeout, operationTimeout }: RenewalTimes): string | undefined {
  if (heartbeatTimeout === Number.POSITIVE_INFINITY) return undefined
  const least = 3 * heartbeatInterval + operationTimeout
  if (heartbeatTimeout > least) return undefined
  return (
    `heartbeatTimeout (${heartbeatTimeout} ms) must be larger than 3 × heartbeatInterval (${heartbeatInterval} ms) ` +
    `+ operationTimeout (${operationTimeout} ms) = ${least} ms, so that a failed heartbeat can be repeated: ` +
    'raise heartbeatTimeout, or lower heartbeatInterval or operationTimeout'
  )
}

/** The plan of every strategy for a lease that does not expire. */
export function planInterval({ heartbeatInterval, operationTimeout }: RenewalTimes, jitter: number): HeartbeatPlan {
  return { after: shortened(heartbeatInterval, jitter), attemptTimeout: operationTimeout }
}

/** A waiting time less its jitter. */
export function shortened(duration: number, jitter: number): number {
  return duration * (1 - JITTER * jitter)
}
