import type { EngineState, Held } from './engine-state.js'
import type { EventContext } from './event-context.js'

/** The timer is armed late by at most the shorter of `operationTimeout` and `heartbeatInterval`, divided by this. */
const ARMED_IN_PARTS = 20
/** The longest such delay, in milliseconds. */
const LATEST_ARMED = 50

/**
 * Returns within how many milliseconds the timer must be armed. It may be armed a little later after a call was sent,
 * because most answers come sooner, or while a holder has nothing to do soon. With a timer for each call and each hold,
 * acquiring and releasing took a quarter more processor time in memory (10.9 instead of 8.9 µs), a tenth more on Redis with
 * 64 in flight, and a twentieth more with one. In all other states it returns 0: a waiter may have less time than a call,
 * and the end of a validity has to be noticed when it comes.
 */
export function armWithin(state: EngineState, { rules, now }: EventContext): number {
  const isCalling = (state.phase === 'acquiring' || state.phase === 'releasing') && state.call !== undefined
  if (!isCalling && !(state.phase === 'held' && isQuiet(state, now))) return 0
  const shortest = Math.min(rules.operationTimeout, rules.heartbeatInterval)
  return Math.min(Math.floor(shortest / ARMED_IN_PARTS), LATEST_ARMED)
}

/** Whether no call is under way, and neither the next heartbeat nor the end of the validity comes soon. */
function isQuiet({ call, heartbeatAt, validUntil }: Held, now: number): boolean {
  return call === undefined && Math.min(heartbeatAt, validUntil) - now > 2 * LATEST_ARMED
}
