import { backoff } from '../store-kit/backoff.js'

/**
 * How many statements are on their way at most: a store takes no more connections of its user's pool, and leaves one for the
 * user if there are several.
 */
const STATEMENTS = 4

/** The pauses before a statement is repeated after a conflict, in milliseconds; half of each is random. */
const FIRST_PAUSE = 10
const LONGEST_PAUSE = 250

/** `connections`: how many the pool opens at most, where it says so. */
export function mostStatements(connections: number | undefined): number {
  return Math.max(1, Math.min(STATEMENTS, (connections ?? Number.POSITIVE_INFINITY) - 1))
}

/** The pause before a statement is repeated that another transaction has undone, in milliseconds. */
export function conflictPause(repeats: number, random: () => number): number {
  return backoff(repeats, FIRST_PAUSE, LONGEST_PAUSE, random)
}
