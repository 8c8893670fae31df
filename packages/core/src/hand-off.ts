import { LeaseConfigurationError } from './errors/lease-configuration-error.js'
import type { Grant } from './store/lease-record.js'

/**
 * A lease on its way from one owner to another: made by `handOff`, taken once by `adopt`. Plain JSON, so that it can
 * be sent to another process.
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
  return {
    name,
    owner,
    grantId,
    fencingToken: String(fencingToken),
    ttl: ttl === Number.POSITIVE_INFINITY ? 'infinite' : ttl,
  }
}

/** The grant behind a hand-off, which may come from another process. Throws a `LeaseConfigurationError` if it is not valid. */
export function fromHandOff(handOff: HandOff): Grant {
  // A null or a primitive has no fields, and is rejected as any other value that is not a hand-off.
  const { name, owner, grantId, fencingToken, ttl } = Object(handOff) as HandOff
  const texts = [name, owner, grantId, fencingToken]
  const isWhole = texts.every((text) => typeof text === 'string') && /^\d+$/.test(fencingToken)
  if (!isWhole || !(ttl === 'infinite' || (typeof ttl === 'number' && ttl > 0))) {
    throw new LeaseConfigurationError('this is not a hand-off: pass the value that handOff() resolved with, unchanged')
  }
  const duration = ttl === 'infinite' ? Number.POSITIVE_INFINITY : ttl
  return { name, owner, grantId, fencingToken: BigInt(fencingToken), ttl: duration }
}

/** Why a hand-off is not for this lease, if it is not. */
export function mismatchOf(grant: Grant, lease: { name: string; owner: string; ttl: number }): string | undefined {
  if (grant.name !== lease.name) return `is of lease '${grant.name}', not of '${lease.name}'`
  if (grant.owner !== lease.owner) return `is meant for owner '${grant.owner}', not for '${lease.owner}'`
  if (grant.ttl === lease.ttl) return undefined
  return `has a heartbeatTimeout of ${grant.ttl} ms, not of ${lease.ttl}: give both sides the same`
}
