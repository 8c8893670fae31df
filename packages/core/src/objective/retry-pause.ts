import { backoff } from '../store-kit/backoff.js'

/** The shortest pause after a failed heartbeat or release, however little time is left. Milliseconds. */
const SHORTEST_RETRY = 10

/** The longest one, for a lease without expiry and heartbeats. Milliseconds. */
const LONGEST_RETRY = 1_000 * 2 ** 16

/**
 * The pause before a heartbeat is repeated that has failed for the `failures`th time in a row, in milliseconds. It leaves
 * room for more attempts in the remaining validity.
 */
export function pauseAfterFailure(
  heartbeatInterval: number,
  failures: number,
  remaining: number,
  random: () => number,
): number {
  const first = Math.min(Math.max(heartbeatInterval / 50, SHORTEST_RETRY), 1_000)
  const longest = Math.max(Math.min(heartbeatInterval / 2, remaining / 4, LONGEST_RETRY), SHORTEST_RETRY)
  return backoff(failures - 1, first, longest, random)
}
