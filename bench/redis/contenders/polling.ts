/** Requests that all who wait for a name send in a millisecond, in sum: more than that, and the server is the limit. */
const REQUESTS_A_MILLISECOND = 5
const SHORTEST_PAUSE = 2

/** The pause between two attempts of one waiter that hands over soonest, where a library polls. Milliseconds. */
export function briskPause(waiters: number): number {
  return Math.max(SHORTEST_PAUSE, Math.round(waiters / REQUESTS_A_MILLISECOND))
}

/** What a library is set to that waits for long, where it gives up by default. */
export const LONG_WAIT = 600_000

/** How often ours renews what it holds for long, for the same rhythm. */
export const RHYTHM = 9_000
