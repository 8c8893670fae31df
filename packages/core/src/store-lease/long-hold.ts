import type { LeaseSettings } from '../settings/lease-settings.js'

/** A grant that is held for more ttls than this, without `maxHold`, may belong to a hung worker. */
const MANY_TTLS = 100

/** When the holder is warned; `Infinity` for a lease that does not expire, and for one with `maxHold`. */
export function longHoldOf({ maxHold, timeouts }: LeaseSettings, grantedAt: number): number {
  const isLimited = maxHold !== Number.POSITIVE_INFINITY
  return isLimited ? Number.POSITIVE_INFINITY : grantedAt + MANY_TTLS * timeouts.heartbeatTimeout
}

/** The warning. */
export const heldLong =
  `held for more than ${MANY_TTLS} heartbeat timeouts without maxHold: a worker that hangs keeps the lease for ever. ` +
  'Set maxHold to the longest time that the work may take'
