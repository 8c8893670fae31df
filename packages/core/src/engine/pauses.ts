import { pauseAfterFailure } from '../objective/retry-pause.js'
import type { LeaseRecord } from '../store/lease-record.js'
import { backoff, outageBackoff } from '../store-kit/backoff.js'
import type { LeaseRules } from './lease-rules.js'

/** Without a ttl, a store keeps a place in the queue for this long after the last request. Milliseconds. */
const PLACE_WITHOUT_TTL = 60_000

/** A waiter repeats its request at least this often while its place is kept; if a request fails, after a short pause. */
const REPEATS = 2

/** The longest pause of a waiter in a store that wakes its waiters: the message may be lost. Milliseconds. */
const LONGEST_WATCH = 60_000

/** The longest pause between two polls of a store that does not wake its waiters. Milliseconds. */
const LONGEST_POLL = 5_000
const SHORTEST_POLL = 20

/** The longest pause that a store can ask for. Milliseconds. */
const LONGEST_ASKED = 60_000

/** How long after its expiry a lease is asked for: the store's clock may be a little behind. Milliseconds. */
const AFTER_EXPIRY = 5

/**
 * The pause before a failed heartbeat is repeated. It leaves room for more attempts in the remaining validity, or for one
 * at least if the store has asked for a pause.
 */
export function retryPause(
  rules: LeaseRules,
  failures: number,
  remaining: number,
  random: () => number,
  asked = 0,
): number {
  const pause = pauseAfterFailure(rules.heartbeatInterval, failures, remaining, random)
  return Math.max(pause, Math.min(asked, remaining / 2))
}

/** The pause of a waiter before it asks a failed store again: at least the pause that the store asked for. */
export function outagePause(rules: LeaseRules, failures: number, random: () => number, asked = 0): number {
  return Math.max(outageBackoff(failures, longestPoll(rules), random), Math.min(asked, LONGEST_ASKED))
}

/** The longest pause of a waiter whom the store does not wake. */
export function longestPoll({ heartbeatInterval }: LeaseRules): number {
  return Math.min(heartbeatInterval, LONGEST_POLL)
}

/** The pause after the watch has shown a holder: until just after the expiry, which every later heartbeat moves on. */
export function heldPause(remaining: number): number {
  return Math.min(remaining + AFTER_EXPIRY, LONGEST_WATCH)
}

/**
 * The pause of a waiter after a refusal. If the store wakes its waiters, the pause is as long as the place in the queue
 * allows; if there is no queue, it ends at the expiry at the latest, because no event announces the expiry. If the store
 * wakes nobody, the pause is short at first, because most locks are short. Then it grows, and ends at the expiry if the
 * store knows that.
 */
export function turnPause(
  rules: LeaseRules,
  refusals: number,
  holder: Pick<LeaseRecord, 'remaining'> | undefined,
  random: () => number,
): number {
  const atExpiry = remainingOf(holder) + AFTER_EXPIRY
  if (rules.watched) {
    const kept = rules.ttl === Number.POSITIVE_INFINITY ? PLACE_WITHOUT_TTL : rules.ttl
    const seldom = backoff(0, kept / REPEATS, LONGEST_WATCH, random)
    return rules.ordered ? seldom : Math.min(seldom, atExpiry)
  }
  const longest = longestPoll(rules)
  const first = Math.max(longest / 20, SHORTEST_POLL)
  const pause = backoff(0, first * 1.5 ** (refusals - 1), longest, random)
  return Math.min(pause, atExpiry)
}

/** For how long the store says that the holder has the name; `Infinity` where it does not say so, or says nonsense. */
export function remainingOf(holder: Pick<LeaseRecord, 'remaining'> | undefined): number {
  const remaining: unknown = holder?.remaining
  return typeof remaining === 'number' && remaining >= 0 ? remaining : Number.POSITIVE_INFINITY
}
