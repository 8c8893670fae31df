/** The shortest pause between two requests to a store that fails, in milliseconds. */
const SHORTEST_PAUSE = 20

/**
 * The pause after `failures` failures in a row, in milliseconds: `first`, doubled by each failure, and `longest` at most.
 * Up to half of it is taken off at random, so that clients that failed together do not come back together.
 */
export function backoff(failures: number, first: number, longest: number, random: () => number): number {
  return Math.min(first * 2 ** failures, longest) * (0.5 + 0.5 * random())
}

/** The pause before a failed store is asked again, after `failures` (1 or more): at first a twentieth of `longest`. */
export function outageBackoff(failures: number, longest: number, random: () => number): number {
  return backoff(failures - 1, Math.max(longest / 20, SHORTEST_PAUSE), longest, random)
}
