import type { RenewalTimes } from './renewal-strategy.js'

/** The durations that the user gave. */
export type GivenTimes = { readonly [Name in keyof RenewalTimes]?: number | undefined }

const DEFAULT_HEARTBEAT_TIMEOUT = 120_000
const DEFAULT_OPERATION_TIMEOUT = 5_000
const LEAST_DEFAULT_INTERVAL = 5_000

/** For a lease that does not expire: its heartbeats only detect that it was broken. */
const DEFAULT_INFINITE_INTERVAL = 12_000

/** Akka's defaults for the durations that the user did not give. */
export function akkaTimes(given: GivenTimes): RenewalTimes {
  const { heartbeatTimeout = DEFAULT_HEARTBEAT_TIMEOUT, operationTimeout = DEFAULT_OPERATION_TIMEOUT } = given
  const interval =
    heartbeatTimeout === Number.POSITIVE_INFINITY
      ? DEFAULT_INFINITE_INTERVAL
      : Math.max(heartbeatTimeout / 10, LEAST_DEFAULT_INTERVAL)
  return { heartbeatTimeout, heartbeatInterval: given.heartbeatInterval ?? interval, operationTimeout }
}

/**
 * Durations that suit the ones that the user gave, where Akka's defaults do not. They leave a quarter of the time above
 * what `heartbeatTimeout > 3 × heartbeatInterval + operationTimeout` requires, or more. If the user's own durations
 * contradict each other, the result does too.
 */
export function fittingTimes(given: GivenTimes): RenewalTimes {
  const heartbeatTimeout = given.heartbeatTimeout ?? fittingTimeout(given)
  const operationTimeout = given.operationTimeout ?? fittingOperationTimeout(heartbeatTimeout, given.heartbeatInterval)
  const interval = Math.floor((heartbeatTimeout - operationTimeout) / 4)
  const { heartbeatInterval = interval > 0 ? interval : LEAST_DEFAULT_INTERVAL } = given
  return { heartbeatTimeout, heartbeatInterval, operationTimeout }
}

function fittingTimeout({ heartbeatInterval = 0, operationTimeout = DEFAULT_OPERATION_TIMEOUT }: GivenTimes): number {
  return 4 * Math.max(heartbeatInterval, operationTimeout) + operationTimeout
}

function fittingOperationTimeout(heartbeatTimeout: number, heartbeatInterval: number | undefined): number {
  const room = heartbeatInterval === undefined ? heartbeatTimeout / 5 : (heartbeatTimeout - 3 * heartbeatInterval) / 2
  return room >= 1 ? Math.min(Math.floor(room), DEFAULT_OPERATION_TIMEOUT) : DEFAULT_OPERATION_TIMEOUT
}
