import { validityOf } from '../time/validity.js'
import { planInterval, shortened } from './interval-strategy.js'
import type { HeartbeatPlan, RenewalStrategy, RenewalTimes } from './renewal-strategy.js'

/** How many attempts of the full operation timeout must fit between the heartbeat and the end of validity. */
export const ATTEMPTS = 2

/** The pause between two attempts, as a part of the operation timeout. */
const PAUSE = 0.1

/** Renews at half the ttl: the lowest chance of a loss, the most traffic. */
export function eagerStrategy(): RenewalStrategy {
  return fractionStrategy('eager', 0.5)
}

/** Renews at 90 % of the ttl, or as much earlier as two full attempts need: the least traffic. */
export function lazyStrategy(): RenewalStrategy {
  return fractionStrategy('lazy', 0.9)
}

function fractionStrategy(name: string, fraction: number): RenewalStrategy {
  return {
    name,
    check: (times) => checkRoomForAttempts(name, times),
    plan: (times, jitter) => plan(fraction, times, jitter),
  }
}

function plan(fraction: number, times: RenewalTimes, jitter: number): HeartbeatPlan {
  const { heartbeatTimeout, operationTimeout } = times
  if (heartbeatTimeout === Number.POSITIVE_INFINITY) return planInterval(times, jitter)
  const latest = validityOf(heartbeatTimeout) - roomForAttempts(operationTimeout)
  const after = Math.min(fraction * heartbeatTimeout, latest)
  return { after: shortened(after, jitter), attemptTimeout: operationTimeout }
}

/** How long the attempts take with their pauses, in milliseconds. */
export function roomForAttempts(operationTimeout: number): number {
  return ATTEMPTS * operationTimeout * (1 + PAUSE)
}

/** The rule of every strategy that counts back from the end of validity. */
export function checkRoomForAttempts(name: string, times: RenewalTimes): string | undefined {
  const { heartbeatTimeout, operationTimeout } = times
  const room = roomForAttempts(operationTimeout)
  if (validityOf(heartbeatTimeout) > room) return undefined
  return (
    `heartbeatTimeout (${heartbeatTimeout} ms) is too short for the ${name} strategy with an operationTimeout of ` +
    `${operationTimeout} ms: ${ATTEMPTS} attempts take ${Math.ceil(room)} ms and validity lasts ` +
    `${Math.floor(validityOf(heartbeatTimeout))} ms: raise heartbeatTimeout or lower operationTimeout`
  )
}
