import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { shownText } from '../errors/shown-value.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import { type Grant, grantFrom, toPlainJSON } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'

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

/** Throws a `LeaseConfigurationError` if a lease of the store cannot be handed over. */
export function checkCanChange(
  { change, kind = 'custom' }: LeaseStore,
  { name, childGrace }: LeaseSettings,
  details: LeaseErrorDetails,
): void {
  if (childGrace !== undefined) {
    const message = `lease '${name}' cannot be handed over, because its next holder would not wait for its children in other processes (childGrace): release it`
    throw new LeaseConfigurationError(message, details)
  }
  if (change !== undefined) return
  throw new LeaseConfigurationError(`the ${kind} store cannot hand leases over`, details)
}

/**
 * The grant behind a hand-off, which may come from another process. Throws a `LeaseConfigurationError` if it is not valid,
 * or if a lease of the store cannot adopt it.
 */
export function fromHandOff(
  handOff: HandOff,
  settings: LeaseSettings,
  store: LeaseStore,
  details: LeaseErrorDetails,
): Grant {
  const grant = grantFrom(handOff, 'this is not a hand-off: pass the value that handOff() resolved with, unchanged')
  checkCanChange(store, settings, details)
  const mismatch = mismatchOf(grant, settings)
  if (mismatch !== undefined) throw new LeaseConfigurationError(`this hand-off ${mismatch}`, details)
  return grant
}

/** Why a hand-off is not for this lease, if it is not. */
function mismatchOf(grant: Grant, lease: LeaseSettings): string | undefined {
  if (grant.name !== lease.name) return `is of lease '${shownText(grant.name)}', not of '${lease.name}'`
  if (grant.owner === lease.owner) return undefined
  return `is meant for owner '${shownText(grant.owner)}', not for '${lease.owner}'`
}
