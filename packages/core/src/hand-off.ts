import { type Grant, grantFrom, toPlainJSON } from './store/lease-record.js'

/**
 * A lease on its way from one owner to another: made by `handOff`, taken once by `adopt`. Plain JSON, so that it can
 * be sent to another process: `JSON.stringify(handOff)`, and there `lease.adopt(JSON.parse(text))`.
 */
export interface HandOff {
  readonly name: string
  /** The owner that may adopt it. */
  readonly owner: string
  readonly grantId: string
  /** A bigint in decimal digits. */
  readonly fencingToken: string
  /** Milliseconds, or `infinite`: JSON has no `Infinity`. */
  readonly ttl: number | 'infinite'
}

export function toHandOff({ name, owner, grantId, fencingToken, ttl }: Grant): HandOff {
  return toPlainJSON({ name, owner, grantId, fencingToken, ttl }) as unknown as HandOff
}

/** The grant behind a hand-off, which may come from another process. Throws a `LeaseConfigurationError` if it is not valid. */
export function fromHandOff(handOff: HandOff): Grant {
  return grantFrom(handOff, 'this is not a hand-off: pass the value that handOff() resolved with, unchanged')
}

/** Why a hand-off is not for this lease, if it is not. */
export function mismatchOf(grant: Grant, lease: { name: string; owner: string }): string | undefined {
  if (grant.name !== lease.name) return `is of lease '${grant.name}', not of '${lease.name}'`
  if (grant.owner === lease.owner) return undefined
  return `is meant for owner '${grant.owner}', not for '${lease.owner}'`
}
