import { uptime } from 'node:os'
import { type Clock, systemClock } from '@leasehold/core'
import { readBootId } from './boot-id.js'
import { monotonicClock } from './wall-clock.js'

/** If the uptime is ahead of the monotonic clock by at least this, in milliseconds, the machine was suspended. */
const LEAST_SUSPEND = 20
const READINGS = 8

/**
 * By how much two processes of one machine may differ about the time since boot, in milliseconds: the uptime has steps of
 * 10 ms, a clock may miss suspends of up to 20 ms, and may count up to 10 ms too much of the suspends that it sees.
 */
const UNCERTAINTY = 40

/** The time axis that all processes of a machine share, until the machine restarts. */
export interface Boot {
  /** Another after each start of the machine. */
  readonly id: string
  /** Milliseconds since the start of the machine, suspends counted. */
  readonly now: () => number
  /** By how much `now` of two processes may differ, in milliseconds. */
  readonly uncertainty: number
}

/** The clocks that {@link bootAxis} reads, in milliseconds since the start of the machine; tests replace them. */
export interface BootReadings {
  /** The monotonic clock: one origin for all processes, stands still during a suspend on Linux. */
  readonly monotonic: () => number
  /** In coarse steps; goes on during a suspend. */
  readonly uptime: () => number
}

const systemReadings: BootReadings = {
  monotonic: monotonicClock,
  uptime: () => uptime() * 1000,
}

/** The axis of the machine, or that of the clock that was given. See `LocalLeaseStoreOptions`. */
export function bootOf(
  { clock = systemClock, bootId }: { readonly clock?: Clock | undefined; readonly bootId?: string | undefined },
  folder: string,
): Boot {
  if (clock !== systemClock) return { id: bootId ?? 'clock', now: () => clock.now(), uncertainty: 0 }
  return { id: bootId ?? readBootId(folder), now: bootAxis(clock), uncertainty: UNCERTAINTY }
}

/** Places the clock of this process on the time axis of the machine, once: the clock itself counts later suspends. */
export function bootAxis(clock: Clock, { monotonic, uptime }: BootReadings = systemReadings): () => number {
  let suspended = 0
  // An interruption between the two readings can only hide a part of the suspends, so the largest difference is the best.
  for (let reading = 0; reading < READINGS; reading += 1) suspended = Math.max(suspended, uptime() - monotonic())
  // An uptime behind the monotonic clock is that of a container, not of the machine.
  const origin = monotonic() + (suspended >= LEAST_SUSPEND ? suspended : 0) - clock.now()
  return () => origin + clock.now()
}
