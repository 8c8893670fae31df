/** The durations that a strategy plans with, in milliseconds. */
export interface RenewalTimes {
  readonly heartbeatInterval: number
  /** The ttl; `Infinity` for a lease that does not expire. */
  readonly heartbeatTimeout: number
  readonly operationTimeout: number
}

/** When the next heartbeat is due and how long each attempt at it may take. */
export interface HeartbeatPlan {
  /** Milliseconds after the last confirmed request was sent. */
  readonly after: number
  /** Milliseconds. */
  readonly attemptTimeout: number
}

/**
 * Decides when a heartbeat is sent. It can cost heartbeats, never validity: the engine ends validity by its own
 * deadline, whatever a strategy plans.
 */
export interface RenewalStrategy {
  readonly name: string
  /** What is wrong with the times for this strategy, in one sentence that says what to change; `undefined` if nothing. */
  check(times: RenewalTimes): string | undefined
  /** `jitter` is a random number from 0 to 1; it only ever makes a heartbeat earlier. */
  plan(times: RenewalTimes, jitter: number): HeartbeatPlan
  /** Told how long each heartbeat took, a failed one with the time it was given; in milliseconds. */
  observe?(latency: number): void
}
