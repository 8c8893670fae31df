import type { HandOffTarget } from '../engine/engine-state.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import { faultOfNames } from '../errors/option-names.js'
import { shownText } from '../errors/shown-value.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import { createGrantId } from '../store/grant-id.js'
import { faultOfGuid, normalGuid } from '../store/guid.js'
import { checkOwner } from '../store/lease-name.js'
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

/** The next holder of a lease that is handed over. */
export interface HandOffTo {
  /** This lease's own owner unless given, for a hand-off within one process. */
  readonly owner?: string
  /** The id under which a waiter of that owner asks for the lease: see `AcquireOptions.grantId`. */
  readonly grantId?: string
}

/** Throws a `LeaseConfigurationError` or a `LeaseNameError` if the target is not valid. */
export function checkedTarget(to: HandOffTo, settings: LeaseSettings, details: LeaseErrorDetails): HandOffTarget {
  const { owner = settings.owner, grantId } = to
  const fault = faultOfNames('handOff', to, ['owner', 'grantId']) ?? faultOfGrantId(grantId)
  if (fault !== undefined) throw new LeaseConfigurationError(fault, details)
  checkOwner(owner)
  const given = normalGuid(grantId)
  if (given === undefined) return { grantId: createGrantId(), owner }
  if (to.owner !== undefined) return { grantId: given, owner, isWaiter: true }
  throw new LeaseConfigurationError(
    "handOff: 'grantId' needs 'owner', the owner of the waiter that asks under it",
    details,
  )
}

function faultOfGrantId(grantId: unknown): string | undefined {
  return grantId === undefined || normalGuid(grantId) !== undefined ? undefined : faultOfGuid(grantId)
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

/** Throws a `LeaseConfigurationError` if the waiters of the store may ask under other ids than those they were given. */
export function checkCanChangeToWaiter({ list, kind = 'custom' }: LeaseStore, details: LeaseErrorDetails): void {
  if (list !== undefined) return
  const message = `the ${kind} store cannot hand a lease over to a waiter: hand it off without a grantId, and adopt it`
  throw new LeaseConfigurationError(message, details)
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
