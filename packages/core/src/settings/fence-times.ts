import { validityOf } from '../time/validity.js'

/** Ways to end a process that has not acknowledged the loss of a lease. */
export type SelfFenceMode = 'exit' | 'kill'

export const SELF_FENCES: readonly SelfFenceMode[] = ['exit', 'kill']

/** The least ttl of a self-fenced lease: the times below would leave too little of a shorter one. Milliseconds. */
export const LEAST_FENCED_TTL = 1_000

/** The time to acknowledge a loss, as a part of the ttl and in milliseconds. */
const ACKNOWLEDGE_PART = 0.05
const LEAST_ACKNOWLEDGE = 100
const MOST_ACKNOWLEDGE = 10_000

/** The time for a late wake-up of the watchdog and for the signal to take effect, as a part of the ttl and in milliseconds. */
const KILL_PART = 0.02
const LEAST_KILL = 100
const MOST_KILL = 1_000

/** How long after the end of its validity a loss has to be acknowledged, in milliseconds. */
export function acknowledgeTime(ttl: number): number {
  return within(ttl * ACKNOWLEDGE_PART, LEAST_ACKNOWLEDGE, MOST_ACKNOWLEDGE)
}

/** How long before it is killed the process is asked to end, in milliseconds; `-Infinity` if it is not asked. */
export function askBefore(mode: SelfFenceMode, ttl: number): number {
  return mode === 'exit' ? acknowledgeTime(ttl) / 2 : Number.NEGATIVE_INFINITY
}

/**
 * How much earlier the validity of a self-fenced lease ends, in milliseconds: by the time to acknowledge the loss, and by
 * the time that it takes to end the process, so that it is gone when the validity of a lease without a fence would end.
 */
export function fenceReserve(ttl: number): number {
  return acknowledgeTime(ttl) + within(ttl * KILL_PART, LEAST_KILL, MOST_KILL)
}

/** The ttl whose validity is that of a self-fenced lease: renewal strategies count back from the end of validity. */
export function fencedTtl(ttl: number): number {
  const lost = fenceReserve(ttl) / (validityOf(1) - validityOf(0))
  return ttl === Number.POSITIVE_INFINITY ? ttl : ttl - lost
}

function within(time: number, least: number, most: number): number {
  return Math.min(Math.max(time, least), most)
}
