import type { LeaseSettings } from '../settings/lease-settings.js'

/** A grant that is held for more ttls than this, without `maxHold`, may belong to a hung worker. */
const MANY_TTLS = 100

/** The warning for such a grant. */
export const heldLong =
  `held for more than ${MANY_TTLS} heartbeat timeouts without maxHold: a worker that hangs keeps the lease for ever. ` +
  'Set maxHold to the longest time that the work may take'

/** For how long a grant is held without a warning, in milliseconds. */
export function longestSilentHold({ maxHold, timeouts }: LeaseSettings): number {
  return maxHold === Number.POSITIVE_INFINITY ? MANY_TTLS * timeouts.heartbeatTimeout : Number.POSITIVE_INFINITY
}
