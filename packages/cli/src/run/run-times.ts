import { LeaseConfigurationError, type TimeoutSettings } from '@leasehold/core'
import { validityOf } from '@leasehold/core/store-kit'
import type { EndTimes } from './end-plan.js'

/** The time between SIGTERM and SIGKILL unless given: in milliseconds, and at most the ttl divided by the second number. */
const KILL_AFTER = 5_000
const KILL_AFTER_PART = 4

/** For the system to remove the processes: in milliseconds, and at most the ttl divided by the second number. */
const MARGIN = 500
const MARGIN_PART = 10

/**
 * The times for the end of a command. Throws a `LeaseConfigurationError` if they leave too little of the validity: one
 * failed heartbeat would end the command.
 */
export function endTimesOf(timeouts: TimeoutSettings, killAfter: number | undefined, leaseName: string): EndTimes {
  const { heartbeatTimeout, heartbeatInterval, operationTimeout } = timeouts
  const margin = Math.min(MARGIN, heartbeatTimeout / MARGIN_PART)
  const times = { killAfter: killAfter ?? Math.min(KILL_AFTER, heartbeatTimeout / KILL_AFTER_PART), margin }
  const most = Math.floor(validityOf(heartbeatTimeout) - margin - heartbeatInterval - operationTimeout)
  if (times.killAfter <= most) return times
  throw new LeaseConfigurationError(
    `--kill-after is ${times.killAfter} ms, but with a ttl of ${heartbeatTimeout} ms it may be at most ${Math.max(most, 0)} ms, ` +
      `so that a heartbeat (every ${heartbeatInterval} ms, ${operationTimeout} ms each) can be confirmed before: ` +
      'give a longer --ttl, or a shorter --kill-after',
    { leaseName },
  )
}
