import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import type { LeaseError } from '../errors/lease-error.js'
import { checkLeaseName } from '../lease-name.js'
import type { StoreLimits } from '../store/lease-store.js'

/** The longest period after which a lease can be broken, in milliseconds: a Lease Blob's. */
const LONGEST_BREAK = 60_000

/** What is wrong with the ttl of a request, if anything is. */
export function ttlFailure(name: string, ttl: number, { minTtl, maxTtl }: StoreLimits): LeaseError | undefined {
  // Written so that NaN does not pass.
  if ((ttl >= minTtl && ttl <= maxTtl) || ttl === Number.POSITIVE_INFINITY) return undefined
  return new LeaseConfigurationError(`the ttl must be ${minTtl} to ${maxTtl} ms or Infinity, not ${ttl}`, {
    leaseName: name,
    store: 'memory',
  })
}

/** What is wrong with the period of a break, if anything is. */
export function periodFailure(name: string, period: number | undefined): LeaseError | undefined {
  if (period === undefined || (period >= 0 && period <= LONGEST_BREAK)) return undefined
  return new LeaseConfigurationError(`the break period must be 0 to ${LONGEST_BREAK} ms, not ${period}`, {
    leaseName: name,
    store: 'memory',
  })
}

/** What is wrong with a lease name, if anything is. */
export function nameFailure(name: string): unknown {
  try {
    checkLeaseName(name)
    return undefined
  } catch (error) {
    return error
  }
}
