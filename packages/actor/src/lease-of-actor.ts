import { isLease, type Lease, LeaseConfigurationError } from '@leasehold/core'
import type { AnyActorRef } from 'xstate'
import { onRejection } from './report.js'

/** A lease, or a function that makes one for each actor. */
export type LeaseSource = Lease | ((actor: { readonly input: unknown; readonly self: AnyActorRef }) => Lease)

/**
 * The lease of one actor. Throws what the function throws, and a `LeaseConfigurationError` where it returns anything but
 * a `Lease`.
 */
export function leaseOf(source: LeaseSource, actor: { readonly input: unknown; readonly self: AnyActorRef }): Lease {
  const lease: unknown = typeof source === 'function' ? source(actor) : source
  if (isLease(lease)) return lease
  onRejection(lease, () => {})
  throw new LeaseConfigurationError(
    isPromise(lease)
      ? "the function given as 'lease' returned a promise: make the lease before the actor starts, and return the Lease itself"
      : `the function given as 'lease' returned ${describe(lease)}: return an object with the methods acquire, release ` +
          'and checkLease, such as the result of createLease',
  )
}

/** A value in an error: its kind where it has parts, because a part may be a secret. */
export function describe(value: unknown): string {
  if (isPromise(value)) return 'a promise'
  if (typeof value === 'function') return 'a function'
  return typeof value === 'object' && value !== null ? 'an object' : String(value)
}

/** The settings of a lease as far as it has them: one that extends another `Lease`, or none, may be without. */
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

function isPromise(value: unknown): boolean {
  return value instanceof Promise
}
