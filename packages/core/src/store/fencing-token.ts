import type { Grant } from './lease-record.js'
import type { RenewOutcome } from './lease-store.js'

/** The answer to a heartbeat when the record has the grant id and a larger fencing token: see `LeaseStore.renew`. */
export const GRANTED_AGAIN: RenewOutcome = Object.freeze({ renewed: false, reason: 'expired', left: true })

export function largerOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

/** The grant as it is after a raise to `token`, whether or not an earlier request has raised it already. */
export function raisedTo(grant: Grant, token: bigint): Grant {
  return { ...grant, fencingToken: largerOf(grant.fencingToken, token) }
}
