import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseSettings } from '../lease-settings.js'
import type { LeaseStore } from './lease-store.js'

/** Throws a `LeaseConfigurationError` unless the store accepts the ttl of the settings. */
export function checkStoreLimits(
  { name, owner, timeouts }: LeaseSettings,
  { kind = 'custom', limits }: LeaseStore,
): void {
  const ttl = timeouts.heartbeatTimeout
  const { minTtl, maxTtl, infinite } = limits
  const isInfinite = ttl === Number.POSITIVE_INFINITY
  if (isInfinite ? infinite : ttl >= minTtl && ttl <= maxTtl) return
  const accepted = `${minTtl} to ${maxTtl} ms${infinite ? ', or Infinity' : ''}`
  throw new LeaseConfigurationError(
    `heartbeatTimeout is ${ttl} ms, but the ${kind} store accepts ${accepted}: change it`,
    {
      leaseName: name,
      owner,
      store: kind,
    },
  )
}
