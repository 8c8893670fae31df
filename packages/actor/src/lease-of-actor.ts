import { isLease, type Lease, LeaseConfigurationError } from '@leasehold/core'
import type { AnyActorRef } from 'xstate'
import { onRejection } from './report.js'

/** A lease, or a function that makes one for each actor. */
export type LeaseSource = Lease | ((actor: { readonly input: unknown; readonly self: AnyActorRef }) => Lease)

/**
 * Returns the lease of one actor. Rethrows errors of the function. Throws a `LeaseConfigurationError` if the function does
 * not return a `Lease`.
 */
export function leaseOf(source: LeaseSource, actor: { readonly input: unknown; readonly self: AnyActorRef }): Lease {
  const lease: unknown = typeof source === 'function' ? source(actor) : source
  if (isLease(lease)) return lease
  onRejection(lease, () => {})
  throw new LeaseConfigurationError(
    lease instanceof Promise
      ? "the function given as 'lease' returned a promise: make the lease before the actor starts, and return the Lease itself"
      : `the function given as 'lease' returned ${describe(lease)}: return an object with the methods acquire, release ` +
          'and checkLease, such as the result of createLease',
  )
}

/** Describes a value for an error. Objects are named by type only, because they can contain secrets. */
export function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise'
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/** The settings of a lease, with defaults. A custom lease may have no settings, or settings that throw. */
export function settingsOf(lease: Lease | undefined): { name: string; owner: string; retryInterval?: number } {
  try {
    const { name, owner, retryInterval } = Object(lease?.settings) as Record<string, unknown>
    const text = (value: unknown): string => (typeof value === 'string' ? value : '')
    const settings = { name: text(name), owner: text(owner) }
    const isInterval = typeof retryInterval === 'number' && Number.isFinite(retryInterval) && retryInterval > 0
    return isInterval ? { ...settings, retryInterval } : settings
  } catch {
    return { name: '', owner: '' }
  }
}
