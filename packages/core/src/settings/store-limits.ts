import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseStore, StoreLimits } from '../store/lease-store.js'
import type { LeaseSettings } from './lease-settings.js'

/** Throws a `LeaseConfigurationError` unless the store accepts the ttl of the settings. */
export function checkStoreLimits({ name, owner, timeouts }: LeaseSettings, store: LeaseStore): void {
  checkIsStore(store, name, owner)
  const { kind = 'custom', limits } = store
  const ttl = timeouts.heartbeatTimeout
  const accepted = acceptedTtls(ttl, limits)
  if (accepted === undefined) return
  throw new LeaseConfigurationError(
    `heartbeatTimeout is ${ttl} ms, but the ${kind} store accepts ${accepted}: change it`,
    { leaseName: name, owner, store: kind },
  )
}

/** The ttls that the limits accept, in words, unless they accept this one. */
export function acceptedTtls(ttl: number, { minTtl, maxTtl, infinite }: StoreLimits): string | undefined {
  const isAccepted = ttl === Number.POSITIVE_INFINITY ? infinite : ttl >= minTtl && ttl <= maxTtl
  return isAccepted ? undefined : `${minTtl} to ${maxTtl} ms${infinite ? ', or Infinity' : ''}`
}

const required = ['acquire', 'renew', 'release', 'read'] as const

/** JavaScript users may pass anything, such as the promise of a store. */
function checkIsStore(store: unknown, leaseName: string, owner: string): void {
  const given = Object(store) as Partial<LeaseStore>
  const { minTtl, maxTtl } = Object(given.limits) as Partial<StoreLimits>
  const lacks = required.filter((method) => typeof given[method] !== 'function').map((method) => `${method}()`)
  if (typeof minTtl !== 'number' || typeof maxTtl !== 'number') lacks.push('limits with minTtl and maxTtl')
  if (lacks.length === 0) return
  throw new LeaseConfigurationError(
    `lease '${leaseName}': the store must be a LeaseStore, but it has no ${lacks[0]}: pass the store itself, not its class or a promise`,
    { leaseName, owner },
  )
}
