import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { faultOfNames } from '../errors/option-names.js'
import { shownValue } from '../errors/shown-value.js'
import { validityOf } from '../time/validity.js'
import { akkaTimes, type GivenTimes } from './default-timeouts.js'
import { ATTEMPTS, roomForAttempts } from './fraction-strategy.js'
import { planInterval, shortened } from './interval-strategy.js'
import type { RenewalStrategy, RenewalTimes } from './renewal-strategy.js'

/** The point of the ttl at which a grant is renewed. */
export interface RenewAt {
  /**
   * Larger than 0 and less than 1: `0.3` renews when 30 % of the ttl has passed, or up to an eighth of that time earlier.
   * That applies to the first heartbeat of a grant too, so leases that were acquired together are renewed together at first.
   */
  readonly renewAt: number
}

/** By how much derived durations exceed the least that the strategy requires. */
const SLACK = 1.25

/**
 * Renews at this part of the ttl, or shortly before: up to 5 % of that time earlier by jitter, and up to 6 % earlier so
 * that leases of one process are renewed together. Throws a `LeaseConfigurationError` unless 0 < renewAt < 1.
 */
export function renewAtStrategy({ renewAt, ...others }: RenewAt): RenewalStrategy {
  const unknown = faultOfNames('strategy', others, ['renewAt'])
  if (unknown !== undefined) throw new LeaseConfigurationError(unknown)
  if (!(typeof renewAt === 'number' && renewAt > 0 && renewAt < 1)) {
    throw new LeaseConfigurationError(
      `renewAt must be a part of the ttl, larger than 0 and less than 1, such as 0.3; not ${shownValue(renewAt)}`,
    )
  }
  return {
    name: `renewAt ${renewAt}`,
    isExact: true,
    check: (times) => check(renewAt, times),
    plan: (times, jitter) => {
      const { heartbeatTimeout, operationTimeout } = times
      if (heartbeatTimeout === Number.POSITIVE_INFINITY) return planInterval(times, jitter)
      return { after: shortened(renewAt * heartbeatTimeout, jitter), attemptTimeout: operationTimeout }
    },
  }
}

/** The durations of the strategy. The interval is the renewal point, except for a lease that does not expire. */
export function renewAtTimes(renewAt: number, given: GivenTimes): RenewalTimes {
  const usual = withInterval(renewAt, akkaTimes(given))
  if (check(renewAt, usual) === undefined) return usual
  const { operationTimeout = usual.operationTimeout } = given
  const heartbeatTimeout = given.heartbeatTimeout ?? Math.ceil(SLACK * leastTimeout(renewAt, operationTimeout))
  const fitting = Math.floor(roomAfter(renewAt, heartbeatTimeout) / roomForAttempts(SLACK))
  const limit = given.operationTimeout ?? Math.min(operationTimeout, Math.max(fitting, 1))
  return withInterval(renewAt, { ...usual, heartbeatTimeout, operationTimeout: limit })
}

function withInterval(renewAt: number, times: RenewalTimes): RenewalTimes {
  const { heartbeatTimeout } = times
  return heartbeatTimeout === Number.POSITIVE_INFINITY
    ? times
    : { ...times, heartbeatInterval: renewAt * heartbeatTimeout }
}

/** How much of the validity is left at the renewal point, in milliseconds. */
function roomAfter(renewAt: number, heartbeatTimeout: number): number {
  return validityOf(heartbeatTimeout) - renewAt * heartbeatTimeout
}

/** The ttl for which the room after the renewal point is just enough for the attempts. */
function leastTimeout(renewAt: number, operationTimeout: number): number {
  // The room that one millisecond more of the ttl adds.
  const gained = validityOf(1) - validityOf(0) - renewAt
  return gained > 0 ? (roomForAttempts(operationTimeout) - validityOf(0)) / gained : akkaTimes({}).heartbeatTimeout
}

function check(renewAt: number, { heartbeatTimeout, operationTimeout }: RenewalTimes): string | undefined {
  if (heartbeatTimeout === Number.POSITIVE_INFINITY) return undefined
  const [left, room] = [roomAfter(renewAt, heartbeatTimeout), roomForAttempts(operationTimeout)]
  if (left > room) return undefined
  const rest = left > 0 ? `leaves ${Math.floor(left)} ms of the validity` : 'leaves nothing of the validity'
  return (
    `renewAt (${renewAt}) of a heartbeatTimeout of ${heartbeatTimeout} ms ${rest}, but ${ATTEMPTS} attempts with an ` +
    `operationTimeout of ${operationTimeout} ms take ${Math.ceil(room)} ms: lower renewAt, raise heartbeatTimeout or ` +
    'lower operationTimeout'
  )
}
