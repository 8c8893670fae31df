import {
  type Lease,
  LeaseConfigurationError,
  type LeaseProvider,
  LeaseTimeoutError,
  LeaseUnavailableError,
} from '@leasehold/core'
import { isLease, isThenable, shownValue } from '@leasehold/core/internal'
import type { AnyActorRef } from 'xstate'

/** A lease of a configuration: `provider.getLease(name, configPath, owner)`. */
export interface LeaseReference {
  readonly provider: Pick<LeaseProvider, 'getLease'>
  /** The lease name. */
  readonly name: string
  readonly configPath: string
  /** Default: the owner of the provider. */
  readonly owner?: string | undefined
}

interface ActorOfLease {
  readonly input: unknown
  readonly self: AnyActorRef
}

/** A lease, a promise for one, a reference to one, or a function that makes one for each actor. */
export type LeaseSource =
  | Lease
  | PromiseLike<Lease>
  | LeaseReference
  | ((actor: ActorOfLease) => Lease | PromiseLike<Lease>)

/**
 * Gets the lease of one actor and calls `made`: before it returns, unless the source gives a promise. Calls `failed` with
 * errors of the source, and with a `LeaseConfigurationError` if the source does not give a `Lease`.
 */
export function supplyLease(
  source: LeaseSource,
  actor: ActorOfLease,
  made: (lease: Lease) => void,
  failed: (error: unknown) => void,
): void {
  try {
    const given: unknown = give(source, actor)
    if (!isLease(given) && isThenable(given)) Promise.resolve(given).then(checkedLease).then(made).catch(failed)
    else made(checkedLease(given))
  } catch (error) {
    failed(error)
  }
}

/**
 * Whether the source may give a lease when it is asked again, because its store could not be reached. A promise may not: it
 * always rejects with the same error.
 */
export function isWorthRetry(source: LeaseSource, error: unknown): boolean {
  if (typeof source !== 'function' && !isReference(source)) return false
  return error instanceof LeaseUnavailableError || error instanceof LeaseTimeoutError
}

export function isReference(value: unknown): value is LeaseReference {
  const { provider, name, configPath, owner } = Object(value) as Partial<Record<keyof LeaseReference, unknown>>
  const { getLease } = Object(provider) as { readonly getLease?: unknown }
  const texts = [name, configPath, owner ?? '']
  return typeof getLease === 'function' && texts.every((text) => typeof text === 'string')
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

function give(source: LeaseSource, actor: ActorOfLease): unknown {
  if (typeof source === 'function') return source(actor)
  if (isLease(source) || !isReference(source)) return source
  return source.provider.getLease(source.name, source.configPath, source.owner)
}

function checkedLease(given: unknown): Lease {
  if (isLease(given)) return given
  throw new LeaseConfigurationError(
    `the option 'lease' gave ${shownValue(given)}: give, return or resolve with an object with the methods acquire, release ` +
      'and checkLease, such as the result of createLease',
  )
}
