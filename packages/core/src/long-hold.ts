import type { LeaseSettings } from './lease-settings.js'

/** A grant that is held for so many ttls without `maxHold` may belong to a hung worker. */
const MANY_TTLS = 100

/** When the holder is warned; `Infinity` for a lease that does not expire, and for one with `maxHold`. */
export function longHoldOf({ maxHold, timeouts }: LeaseSettings, grantedAt: number): number {
  const isLimited = maxHold !== Number.POSITIVE_INFINITY
  return isLimited ? Number.POSITIVE_INFINITY : grantedAt + MANY_TTLS * timeouts.heartbeatTimeout
}

/** Warns when the time has come. Returns the time of the next warning: `Infinity`, after this one. */
export function warnOnce(warnAt: number, now: number, warn: (message: string) => void): number {
  if (now < warnAt) return warnAt
  warn(
    `held for more than ${MANY_TTLS} heartbeat timeouts without maxHold: a worker that hangs keeps the lease for ever. ` +
      'Set maxHold to the longest time that the work may take',
  )
  return Number.POSITIVE_INFINITY
}
