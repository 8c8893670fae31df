import { validityOf } from '../time/validity.js'
import { checkRoomForAttempts } from './fraction-strategy.js'
import { planInterval, shortened } from './interval-strategy.js'
import type { HeartbeatPlan, RenewalStrategy, RenewalTimes } from './renewal-strategy.js'

/** How many attempts at the p99 latency must fit between the heartbeat and the end of validity. */
const ATTEMPTS = 3

/** By which factor an attempt may take longer than the p99. The pauses between attempts are part of that. */
const SLACK = 1.5

/** No latency makes the time limit shorter than this: a pause of the garbage collector alone may take it. Milliseconds. */
const LEAST_ATTEMPT = 50

/** With fewer latencies than this, an attempt is assumed to need the whole operation timeout. */
const LEAST_SAMPLES = 8

/** How many latencies are kept. */
const WINDOW = 256

/**
 * Renews as late as possible, with room for three attempts at the p99 of the observed latencies. An instance keeps
 * observations: give the same one to all leases of a store, so that they learn together.
 */
export function adaptiveStrategy(): RenewalStrategy {
  const latencies = new LatencyWindow()
  return {
    name: 'adaptive',
    check: (times) => checkRoomForAttempts('adaptive', times),
    plan: (times, jitter) => plan(latencies, times, jitter),
    observe: (latency) => latencies.add(latency),
  }
}

function plan(latencies: LatencyWindow, times: RenewalTimes, jitter: number): HeartbeatPlan {
  const { heartbeatTimeout, operationTimeout } = times
  if (heartbeatTimeout === Number.POSITIVE_INFINITY) return planInterval(times, jitter)
  const p99 = latencies.count < LEAST_SAMPLES ? operationTimeout : latencies.percentile(0.99)
  const validity = validityOf(heartbeatTimeout)
  // If there is not enough room for three attempts, each gets a third of half the validity.
  const attemptTimeout = Math.min(Math.max(SLACK * p99, LEAST_ATTEMPT), operationTimeout, validity / (2 * ATTEMPTS))
  const latest = validity - ATTEMPTS * attemptTimeout
  return { after: shortened(latest, jitter), attemptTimeout }
}

/** The last latencies seen, in milliseconds, and their upper percentiles. */
class LatencyWindow {
  readonly #latencies = new Float64Array(WINDOW)
  #seen = 0

  get count(): number {
    return Math.min(this.#seen, WINDOW)
  }

  add(latency: number): void {
    this.#latencies[this.#seen % WINDOW] = latency
    this.#seen += 1
  }

  /** The latency that the given part (from 0 to 1) of those seen did not exceed; 0 where none was seen. */
  percentile(part: number): number {
    const sorted = this.#latencies.slice(0, this.count).sort()
    return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? 0
  }
}
