import type { HeartbeatPlan, RenewalStrategy, RenewalTimes } from './renewal-strategy.js'

/** How much of the interval the jitter may take off, so that holders which started together drift apart. */
const JITTER = 0.1

/** Akka's: a heartbeat every `heartbeatInterval`. The default. */
export function intervalStrategy(): RenewalStrategy {
  return { name: 'interval', check, plan }
}

function check({ heartbeatInterval, heartbeatTimeout, operationTimeout }: RenewalTimes): string | undefined {
  const least = 3 * heartbeatInterval + operationTimeout
  if (heartbeatTimeout > least) return undefined
  return (
    `heartbeatTimeout (${heartbeatTimeout} ms) must be larger than 3 × heartbeatInterval (${heartbeatInterval} ms) ` +
    `+ operationTimeout (${operationTimeout} ms) = ${least} ms, so that a failed heartbeat can be repeated: ` +
    'raise heartbeatTimeout, or lower heartbeatInterval or operationTimeout'
  )
}

function plan({ heartbeatInterval, operationTimeout }: RenewalTimes, jitter: number): HeartbeatPlan {
  return { after: heartbeatInterval * (1 - JITTER * jitter), attemptTimeout: operationTimeout }
}
