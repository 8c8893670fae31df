import type { LeaseRecord } from '../store/lease-record.js'
import type { LeaseRules } from './lease-rules.js'

/** A queued request must be repeated within its ttl, or within this where the ttl is longer. Milliseconds. */
const LONGEST_UNREPEATED = 60_000

/** The longest pause between two polls of a store that does not wake its waiters. Milliseconds. */
const LONGEST_POLL = 5_000
const SHORTEST_POLL = 20

/** A store may ask for a pause; for an absurd one it is not left alone. Milliseconds. */
const LONGEST_ASKED = 60_000

/** A lease is not asked for at the very instant of its expiry, where the store's clock may not be there yet. */
const AFTER_EXPIRY = 5

/** What a failed heartbeat or release waits at least, however little time is left for it. Milliseconds. */
const SHORTEST_RETRY = 10

/** Half of the pause is fixed, half of it random, so that those who failed together do not return together. */
function jittered(pause: number, random: number): number {
  return pause * (0.5 + 0.5 * random)
}

/**
 * The pause before a heartbeat that failed is repeated: leaves room for more attempts in what is left of the validity, for
 * one at least where the store has asked for a pause.
 */
export function retryPause(rules: LeaseRules, failures: number, remaining: number, random: number, asked = 0): number {
  const base = Math.min(Math.max(rules.heartbeatInterval / 50, SHORTEST_RETRY), 1_000)
  const pause = Math.min(base * 2 ** Math.min(failures - 1, 16), rules.heartbeatInterval / 2, remaining / 4)
  return Math.max(jittered(Math.max(pause, SHORTEST_RETRY), random), Math.min(asked, remaining / 2))
}

/** The pause before a store that failed is asked again, by one who waits for the lease: no less than it has asked for. */
export function outagePause(rules: LeaseRules, failures: number, random: number, asked = 0): number {
  const longest = Math.min(rules.heartbeatInterval, LONGEST_POLL)
  const first = Math.max(longest / 20, SHORTEST_POLL)
  const pause = jittered(Math.min(first * 2 ** Math.min(failures - 1, 16), longest), random)
  return Math.max(pause, Math.min(asked, LONGEST_ASKED))
}

/** The pause after the watch showed a holder: until just after its expiry, which every later heartbeat moves on. */
export function heldPause(remaining: number): number {
  return Math.min(remaining + AFTER_EXPIRY, LONGEST_UNREPEATED)
}

/**
 * The pause before one who was refused asks again. Where the store wakes its waiters: as seldom as keeps the place in
 * the queue; where there is none, at the expiry too, of which nobody else can tell. Elsewhere: soon at first, for most
 * locks are short, then ever more seldom, and at the expiry where the store tells it.
 */
export function turnPause(
  rules: LeaseRules,
  refusals: number,
  holder: LeaseRecord | undefined,
  random: number,
): number {
  const atExpiry = remainingOf(holder) + AFTER_EXPIRY
  if (rules.watched) {
    const seldom = jittered(Math.min(rules.ttl, LONGEST_UNREPEATED) / 3, random)
    return rules.ordered ? seldom : Math.min(seldom, atExpiry)
  }
  const longest = Math.min(rules.heartbeatInterval, LONGEST_POLL)
  const first = Math.max(longest / 20, SHORTEST_POLL)
  const pause = jittered(Math.min(first * 1.5 ** Math.min(refusals - 1, 32), longest), random)
  return Math.min(pause, atExpiry)
}

/** For how long the store says that the holder has the name; `Infinity` where it does not say so, or says nonsense. */
export function remainingOf(holder: LeaseRecord | undefined): number {
  const remaining: unknown = holder?.remaining
  return typeof remaining === 'number' && remaining >= 0 ? remaining : Number.POSITIVE_INFINITY
}
