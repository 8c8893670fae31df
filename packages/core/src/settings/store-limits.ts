import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseErrorDetails } from '../errors/lease-error.js'
import type { LeaseStore, StoreLimits } from '../store/lease-store.js'
import type { LeaseObjective } from './lease-objective.js'
import type { LeaseSettings } from './lease-settings.js'

/** Throws a `LeaseConfigurationError` unless the store accepts the ttl of the settings. */
export function checkStoreLimits({ name, owner, timeouts }: LeaseSettings, store: LeaseStore): void {
  checkIsStore(store, name, owner)
  const { kind = 'custom', limits } = store
  if (timeouts.objective !== undefined) {
    checkFailover(timeouts.objective, limits, { leaseName: name, owner, store: kind })
    return
  }
  const ttl = timeouts.heartbeatTimeout
  const accepted = acceptedTtls(ttl, limits)
  if (accepted === undefined) return
  throw new LeaseConfigurationError(
    `heartbeatTimeout is ${ttl} ms, but the ${kind} store accepts ${accepted}: change it`,
    { leaseName: name, owner, store: kind },
  )
}

function checkFailover({ failover }: LeaseObjective, limits: StoreLimits, details: LeaseErrorDetails): void {
  const { ttls, extra } = limits.frees ?? { ttls: 1, extra: 0 }
  const least = ttls * limits.minTtl + extra
  if (failover > least) return
  throw new LeaseConfigurationError(
    `objective.failover is ${failover} ms, but the ${details.store} store frees the name of a dead holder after ${least} ms at ` +
      `the earliest: set it to more than that, such as ${Math.ceil(1.1 * least)} ms`,
    details,
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
