import { after, type MachineInstant, machineNow } from './machine-clock.js'

/** When a command has to end, unless its lease is renewed. */
export interface EndPlan {
  /** The time of SIGTERM; `undefined` if the lease does not expire. */
  readonly terminateAt: MachineInstant | undefined
  /** The time of SIGKILL; `undefined` if the lease does not expire. */
  readonly killAt: MachineInstant | undefined
}

/** How much of the validity is kept for the end of a command, in milliseconds. */
export interface EndTimes {
  /** Between SIGTERM and SIGKILL. */
  readonly killAfter: number
  /** Between SIGKILL and the end of the validity: for the system, which has to remove the processes. */
  readonly margin: number
}

/** `left`: the validity that was left at `now` or later, in milliseconds. */
export function endPlanOf(now: MachineInstant, left: number, { killAfter, margin }: EndTimes): EndPlan {
  if (left === Number.POSITIVE_INFINITY) return { terminateAt: undefined, killAt: undefined }
  const killAt = after(now, left - margin)
  return { terminateAt: after(killAt, -killAfter), killAt }
}

/**
 * The milliseconds until the instant, by the clock that says less: 0 or less when it has come, `Infinity` for one that never
 * comes.
 */
export function timeTo(instant: MachineInstant | undefined, now: MachineInstant): number {
  if (instant === undefined) return Number.POSITIVE_INFINITY
  return Math.min(instant.monotonic - now.monotonic, instant.boot - now.boot)
}

/** Whether a command that is being ended since `start` has had its time: then it gets SIGKILL. */
export function isTimeUp(start: MachineInstant, killAfter: number, killAt: MachineInstant | undefined): boolean {
  const now = machineNow()
  return timeTo(start, now) <= -killAfter || timeTo(killAt, now) <= 0
}
