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
  /**
   * True where no heartbeat is sent: only `renew()` renews the grant, and without it the validity ends. `plan` then gives
   * only the time limit of each attempt.
   */
  readonly isManual?: boolean
  /**
   * True where every heartbeat is sent when `plan` says so, or shortly before. Otherwise the first heartbeat of a grant, and
   * the first after failures, is up to 75 % earlier, at random, so that leases that were acquired together do not stay
   * together.
   */
  readonly isExact?: boolean
  /** The fault of the times for this strategy, in one sentence that says what to change; `undefined` if there is none. */
  check(times: RenewalTimes): string | undefined
  /** `jitter` is a random number from 0 to 1; it only ever makes a heartbeat earlier. */
  plan(times: RenewalTimes, jitter: number): HeartbeatPlan
  /** Receives the latency of each heartbeat, or the time limit of a failed one; in milliseconds. */
  observe?(latency: number): void
}
