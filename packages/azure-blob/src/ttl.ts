import { LeaseConfigurationError } from '@leasehold/core'

/** The limits of the service for the ttl of a lease, in milliseconds. */
export const ttlLimits = { minTtl: 15_000, maxTtl: 60_000, infinite: true } as const

/** Throws a `LeaseConfigurationError` if the service does not support the ttl. */
export function checkTtl(leaseName: string, ttl: number): void {
  const { minTtl, maxTtl } = ttlLimits
  if ((ttl >= minTtl && ttl <= maxTtl) || ttl === Number.POSITIVE_INFINITY) return
  throw invalid(leaseName, `the ttl must be ${minTtl} to ${maxTtl} ms or Infinity, not ${ttl}`)
}

/** Throws a `LeaseConfigurationError` if the service does not support the break period. */
export function checkBreakPeriod(leaseName: string, period: number | undefined): void {
  const { maxTtl } = ttlLimits
  if (period === undefined || (period >= 0 && period <= maxTtl)) return
  throw invalid(leaseName, `the break period must be 0 to ${maxTtl} ms, not ${period}`)
}

/** In whole seconds, as the service counts, rounded up; -1 for a lease that does not expire. */
export function toSeconds(duration: number): number {
  return duration === Number.POSITIVE_INFINITY ? -1 : Math.ceil(duration / 1_000)
}

function invalid(leaseName: string, message: string): LeaseConfigurationError {
  return new LeaseConfigurationError(message, { leaseName, store: 'azure-blob' })
}
