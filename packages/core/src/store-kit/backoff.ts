/**
 * The pause after `failures` failures in a row, in milliseconds: `first`, doubled by each failure, and `longest` at most.
 * Up to half of it is taken off at random, so that clients that failed together do not come back together.
 */
export function backoff(failures: number, first: number, longest: number, random: () => number): number {
  return Math.min(first * 2 ** failures, longest) * (0.5 + 0.5 * random())
}
